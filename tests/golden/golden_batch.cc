#include "golden/golden_batch.h"

#include "frames/frames.h"
#include "hash/crc32c.h"

namespace leat::golden {
namespace {

void append(std::string& out, frames::Header header, std::string_view payload) {
  header.length = payload.size();
  const std::size_t begin = out.size();
  frames::append_header(out, header);
  out += payload;
  frames::append_sum(out, hash::crc32c(as_bytes(std::string_view(out).substr(begin))));
}

}  // namespace

std::string make_batch() {
  std::string out;
  const std::string table = frames::encode_fields({{"cls", 1}, {"jpg", 4}});
  append(out, {.item = 0, .kind = frames::Kind::sample}, table + "7meow");
  append(out, {.item = 1}, "yt");
  append(out, {.item = 2, .kind = frames::Kind::error, .status = 404},
         R"({"error":"not_found","message":"there is no photos/no"})");
  append(out, {.item = 3, .kind = frames::Kind::end},
         R"({"bytes":7,"complete":false,"failed":1,"items":3})");
  return out;
}

}  // namespace leat::golden
