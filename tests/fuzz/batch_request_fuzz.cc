// Fuzzes the JSON of batch requests. Checked of every input:
//   1. what is refused is a bad request, and says why;
//   2. what is taken stays within the limits, and every number in an item leads somewhere.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "training/batch_request.h"

using namespace leat;
using namespace leat::training;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto batch = parse_batch(text);
  if (!batch) {
    LEAT_CHECK(batch.error().code() == Errc::bad_request && !batch.error().detail().empty());
    return 0;
  }
  const shards::BatchRequest& request = batch->request;
  LEAT_CHECK(request.items.size() <= kItemsMax);
  std::vector<bool> is_placed(request.items.size());
  for (const OfDataset& one : batch->of_datasets) {
    LEAT_CHECK(one.item < request.items.size() && one.dataset < batch->datasets.size());
    is_placed[one.item] = true;
  }
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    const shards::BatchItem& item = request.items[i];
    LEAT_CHECK(is_placed[i] || item.object < request.objects.size());
    LEAT_CHECK(item.fields < request.field_lists.size());
    LEAT_CHECK(!item.range || !item.is_sample());
  }
  for (const shards::ObjectName& object : request.objects)
    LEAT_CHECK(!object.bucket.empty() && !object.key.empty());
  return 0;
}
