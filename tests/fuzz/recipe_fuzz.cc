// Fuzzes the reader of recipes. The first byte says whether the checksum is made right, so that a
// search gets past it. Checked of every input:
//   1. it is read, or is corrupt, or of a later format;
//   2. what is read is written and read again the same;
//   3. the tar that it fixes has its members one behind the other, and the member of each byte that
//      begins one is that one;
//   4. its index opens and has the same members, or is refused with a reason.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "hash/crc32c.h"
#include "shard/index.h"
#include "shard/recipe.h"
#include "tar/writer.h"

namespace {

using namespace leat;
using namespace leat::shard;

constexpr std::size_t kSumAt = 12;
constexpr std::size_t kEntriesAt = 16;

void seal(std::string& recipe) {
  if (recipe.size() < kEntriesAt) return;
  const std::uint32_t sum = hash::crc32c(as_bytes(recipe).subspan(kEntriesAt));
  std::memcpy(recipe.data() + kSumAt, &sum, sizeof(sum));
}

void check_layout(const RecipeLayout& layout) {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < layout.members.size(); ++i) {
    const tar::Member& member = layout.members[i];
    LEAT_CHECK(member.start == at && member.data_offset > at);
    LEAT_CHECK(tar::header({.name = member.name, .size_bytes = member.size_bytes}).size() ==
               member.data_offset - member.start);
    LEAT_CHECK(layout.member_at(member.start) == i);
    at = member.data_offset + member.size_bytes + tar::padding(member.size_bytes);
    LEAT_CHECK(at > member.start && layout.member_at(at - 1) == i);
  }
  LEAT_CHECK(layout.size_bytes == at + tar::kEndBytes);
  LEAT_CHECK(layout.member_at(at) == layout.members.size());
}

void check_index(const RecipeLayout& layout) {
  const auto index = make_index(layout);
  if (!index) {
    LEAT_CHECK(index.error().code() == Errc::bad_request && !index.error().detail().empty());
    return;
  }
  const auto view = View::open(as_bytes(*index));
  LEAT_CHECK(view && view->shard_bytes() == layout.size_bytes);
  LEAT_CHECK(view->member_count() == layout.members.size());
  for (std::size_t i = 0; i < layout.members.size(); ++i)
    LEAT_CHECK(view->member(i).name == layout.members[i].name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 2 == 1) seal(bytes);
  const auto recipe = decode_recipe(as_bytes(bytes));
  if (!recipe) {
    const Errc code = recipe.error().code();
    LEAT_CHECK(code == Errc::corrupt || code == Errc::not_implemented);
    return 0;
  }
  const auto again = decode_recipe(as_bytes(encode(*recipe)));
  LEAT_CHECK(again && *again == *recipe);
  const RecipeLayout layout = lay_out(*recipe);
  check_layout(layout);
  check_index(layout);
  return 0;
}
