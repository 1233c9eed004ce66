#include "upkeep/adopt.h"

#include <set>

namespace leat::upkeep {
namespace {

constexpr std::size_t kPage = 1000;

}  // namespace

rt::Task<std::vector<std::string>> shards_of(datasets::Datasets& datasets,
                                             const datasets::Opened& opened) {
  std::vector<std::string> keys;
  if (opened.ref.version == 0) co_return keys;
  LEAT_CO_TRY(const auto reader, co_await datasets.reader(opened));
  for (std::uint32_t i = 0; i < reader->shard_count(); ++i) {
    LEAT_CO_TRY(snapshot::ShardEntry entry, reader->catalog().shard(i));
    keys.push_back(std::move(entry.key));
  }
  co_return keys;
}

rt::Task<std::vector<std::string>> find_tars(datasets::Datasets& datasets,
                                             datasets::DatasetName name, std::string prefix) {
  datasets::Reference latest{.dataset = name};
  LEAT_CO_TRY(const datasets::Opened opened, co_await datasets.open(std::move(latest)));
  LEAT_CO_TRY(const auto present, co_await shards_of(datasets, opened));
  const std::set<std::string> known(present.begin(), present.end());
  // What producers appended has its own way in.
  const std::string appended = name.name + "/append/";
  std::vector<std::string> keys;
  index::ListRequest request{.bucket = opened.bucket, .prefix = std::move(prefix), .max = kPage};
  for (bool is_more = true; is_more;) {
    LEAT_CO_TRY(const index::ListPage page, co_await datasets.parts().store.list(request));
    is_more = page.is_truncated;
    for (const index::ListItem& item : page.items) {
      request.after = item.name;
      const bool is_tar = item.name.ends_with(".tar") && !item.name.starts_with(appended);
      if (!is_tar || !item.version || known.contains(item.name)) continue;
      // What was made for the dataset was in it and was removed, or is about to be committed.
      if (datasets::dataset_of(*item.version) != name.name) keys.push_back(item.name);
    }
  }
  co_return keys;
}

}  // namespace leat::upkeep
