#include "golden/golden_snapshot.h"

#include "base/check.h"
#include "snapshot/builder.h"

namespace leat::golden {
namespace {

using Fields = std::vector<snapshot::FieldOf>;

}  // namespace

std::string make_snapshot() {
  snapshot::Builder builder;
  const auto add = [&](std::string_view key, std::uint64_t start, std::uint64_t end,
                       const Fields& fields) {
    LEAT_CHECK(builder.add_sample(key, start, end, fields));
  };
  LEAT_CHECK(builder.begin_shard({.bucket = "train",
                                  .key = "cats-0.tar",
                                  .version = "7",
                                  .etag = "cafe",
                                  .size_bytes = 5 * kMiB}));
  add("cat/tom", 0, 301'568,
      {{.name = "jpg", .place = {.offset = 512, .size_bytes = 300'000}},
       {.name = "cls", .place = {.offset = 301'056, .size_bytes = 1}}});
  add("cat/kit", 301'568, 373'248,
      {{.name = "jpg", .place = {.offset = 302'080, .size_bytes = 70'000}},
       {.name = "cls", .place = {.offset = 372'736, .size_bytes = 2}}});
  // Without a label, and too far from the first to share its block.
  add("cat/lynx", 4 * kMiB, 4 * kMiB + 1024,
      {{.name = "jpg", .place = {.offset = 4 * kMiB + 512, .size_bytes = 512}}});
  // A tar with PAX headers before every member, the label first; the second key was there before.
  LEAT_CHECK(builder.begin_shard({.bucket = "train",
                                  .key = "dogs-0.tar",
                                  .version = "9",
                                  .etag = "f00d",
                                  .size_bytes = kMiB}));
  add("dog/rex", 0, 4096,
      {{.name = "cls", .place = {.offset = 1536, .size_bytes = 1}},
       {.name = "jpg", .place = {.offset = 3584, .size_bytes = 300}}});
  add("cat/tom", 4096, 8192,
      {{.name = "cls", .place = {.offset = 5632, .size_bytes = 1}},
       {.name = "jpg", .place = {.offset = 7680, .size_bytes = 512}}});
  // Something of no field lies between its members: no row can say that.
  add("dog/wolf", 10'240, 16'384,
      {{.name = "cls", .place = {.offset = 11'776, .size_bytes = 1}},
       {.name = "jpg", .place = {.offset = 15'872, .size_bytes = 400}}});
  return builder.finish().value();
}

}  // namespace leat::golden
