// Frames: the answer to a batch request, as bytes (docs/formats/batch.md).
//
// An answer is one frame an item, in the order of the request, and an end frame. Each frame says
// which item it is, how it went and how long it is, and has a checksum behind it: what is cut,
// damaged or out of order is noticed, and an answer without its end frame is not complete.
//
//   server: append_header(out, {…}); out += bytes; append_sum(out, crc);
//   client: Reader reader; reader.feed(bytes); while (auto frame = reader.next()) …
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace leat::frames {

constexpr std::string_view kMediaType = "application/vnd.leat.batch";
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kSumBytes = 4;

enum class Kind : std::uint8_t {
  bytes = 0,   // of an object or member
  sample = 1,  // a table of fields and their bytes
  error = 2,   // JSON: {"error": …, "message": …}
  end = 3,     // JSON: counts, and whether the answer is complete
};

struct Header {
  std::uint32_t item = 0;  // of the end: how many items came before it
  Kind kind = Kind::bytes;
  std::uint16_t status = 200;  // as HTTP has it
  std::uint64_t length = 0;    // of the payload
  bool operator==(const Header&) const = default;
};

void append_header(std::string& out, const Header& header);
void append_sum(std::string& out, std::uint32_t crc);

// The beginning of a sample's payload; the bytes of the fields follow, in the same order.
struct Field {
  std::string name{};
  std::uint64_t size_bytes = 0;
  bool operator==(const Field&) const = default;
};
std::string encode_fields(const std::vector<Field>& fields);
std::uint64_t fields_bytes(const std::vector<Field>& fields);

struct Frame {
  Header header{};
  std::string payload{};

  // Of Kind::sample. Errors: corrupt. Lifetime: the views live as long as the frame.
  Result<std::vector<std::pair<std::string_view, std::string_view>>> fields() const;
};

// Takes an answer apart, in whatever pieces it comes.
class Reader {
 public:
  // `frame_max_bytes`: longer ones are refused, so that a bad length cannot fill the memory.
  explicit Reader(std::uint64_t frame_max_bytes = kGiB) : frame_max_bytes_(frame_max_bytes) {}

  void feed(Bytes bytes) { buffer_ += as_text(bytes); }
  // Nothing when more bytes are needed. Errors: corrupt, also when items are not in order or
  // something follows the end.
  Result<std::optional<Frame>> next();
  bool has_ended() const { return has_ended_; }

 private:
  std::uint64_t frame_max_bytes_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint32_t next_item_ = 0;
  bool has_ended_ = false;
};

}  // namespace leat::frames
