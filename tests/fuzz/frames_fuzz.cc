// Fuzzes the reader of batch answers. The input's checksums are made right first, or nothing would
// get past them. Checked of every input:
//   1. whatever fails is corrupt;
//   2. the pieces in which an answer comes make no difference;
//   3. frames that were read, written again, are the bytes that were read; fields of a sample, too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "frames/frames.h"
#include "hash/crc32c.h"

namespace {

using namespace leat;
using namespace leat::frames;

constexpr std::uint64_t kFrameMaxBytes = 4096;

// Sets the sum of each frame, as far as lengths lead to one.
void seal(std::string& bytes) {
  std::size_t at = 0;
  while (bytes.size() - at >= kHeaderBytes + kSumBytes) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 8; ++i)
      length |= std::uint64_t{static_cast<unsigned char>(bytes[at + 8 + i])} << (8 * i);
    if (length > bytes.size() - at - kHeaderBytes - kSumBytes) return;
    const std::size_t size = kHeaderBytes + static_cast<std::size_t>(length);
    std::string sum;
    append_sum(sum, hash::crc32c(as_bytes(std::string_view(bytes).substr(at, size))));
    std::ranges::copy(sum, bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size + kSumBytes;
  }
}

struct Read {
  std::vector<Frame> frames{};
  bool is_damaged = false;
  bool has_ended = false;
};

Read read(std::string_view bytes, std::size_t step) {
  Read all;
  Reader reader(kFrameMaxBytes);
  for (std::size_t at = 0; at <= bytes.size() && !all.is_damaged; at += step) {
    reader.feed(as_bytes(bytes.substr(at, step)));
    for (;;) {
      auto frame = reader.next();
      if (!frame) {
        LEAT_CHECK(frame.error().code() == Errc::corrupt);
        all.is_damaged = true;
        break;
      }
      if (!*frame) break;
      all.frames.push_back(std::move(**frame));
    }
  }
  all.has_ended = reader.has_ended();
  return all;
}

void check_fields(const Frame& frame) {
  const auto fields = frame.fields();
  if (!fields) {
    LEAT_CHECK(fields.error().code() == Errc::corrupt);
    return;
  }
  std::vector<Field> table;
  std::string data;
  for (const auto& [name, bytes] : *fields) {
    table.push_back({.name = std::string(name), .size_bytes = bytes.size()});
    data += bytes;
  }
  LEAT_CHECK(encode_fields(table) + data == frame.payload);
  LEAT_CHECK(fields_bytes(table) + data.size() == frame.payload.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  seal(bytes);
  const Read whole = read(bytes, std::max<std::size_t>(bytes.size(), 1));
  const Read pieces = read(bytes, 7);
  LEAT_CHECK(whole.frames.size() == pieces.frames.size());
  std::string written;
  for (std::size_t i = 0; i < whole.frames.size(); ++i) {
    const Frame& frame = whole.frames[i];
    LEAT_CHECK(frame.header == pieces.frames[i].header);
    LEAT_CHECK(frame.payload == pieces.frames[i].payload);
    const std::size_t begin = written.size();
    append_header(written, frame.header);
    written += frame.payload;
    append_sum(written, hash::crc32c(as_bytes(std::string_view(written).substr(begin))));
    if (frame.header.kind == Kind::sample) check_fields(frame);
  }
  LEAT_CHECK(std::string_view(bytes).starts_with(written));
  return 0;
}
