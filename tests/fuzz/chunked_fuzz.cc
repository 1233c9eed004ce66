// Fuzzes the chunked coding. The first byte chooses the sizes of the pieces. Checked of every
// input:
//   1. decoded in pieces it gives the same payload, trailers, end and error as at once;
//   2. what it decodes to, encoded again, decodes to the same payload and trailers;
//   3. the input taken as a payload, encoded in chunks of many sizes, decodes to itself.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http1/chunked.h"
#include "http1/grammar.h"

namespace {

using namespace leat;
using namespace leat::http1;

struct Body {
  std::string payload;
  std::vector<std::pair<std::string, std::string>> trailers{};
  std::size_t consumed = 0;
  bool finished = false;
  bool failed = false;

  bool operator==(const Body&) const = default;
};

class PieceSizes {
 public:
  explicit PieceSizes(unsigned seed) : seed_(seed) {}
  std::size_t next(std::size_t max) {
    seed_ = seed_ * 1103515245 + 12345;
    return 1 + (seed_ >> 16) % max;
  }

 private:
  unsigned seed_;
};

// Pushes one piece, which is a buffer of its own. False when there is nothing more to push.
bool push(ChunkedDecoder& decoder, const std::string& piece, Body& body) {
  std::string_view rest = piece;
  while (!rest.empty()) {
    const auto step = decoder.step(as_bytes(rest));
    if (!step) {
      LEAT_CHECK(step.error().code() == Errc::bad_request && !step.error().detail().empty());
      body.failed = true;
      return false;
    }
    LEAT_CHECK(step->consumed > 0 && step->consumed <= rest.size());
    LEAT_CHECK(step->payload.size() <= step->consumed);
    body.payload.append(as_text(step->payload));
    body.consumed += step->consumed;
    rest.remove_prefix(step->consumed);
    if (step->finished) return false;
  }
  return true;
}

Body decode(std::string_view text, std::optional<unsigned> seed) {
  ChunkedDecoder decoder;
  Body body;
  PieceSizes sizes(seed.value_or(0));
  while (!text.empty()) {
    const std::size_t size = seed ? std::min(sizes.next(17), text.size()) : text.size();
    if (!push(decoder, std::string(text.substr(0, size)), body)) break;
    text.remove_prefix(size);
  }
  body.finished = decoder.finished();
  if (body.failed) body.consumed = 0;  // up to where an error was seen depends on the pieces
  if (!body.finished) return body;
  for (const HeaderField field : decoder.trailers()) {
    LEAT_CHECK(is_trailer_allowed(field.name) && is_token(field.name));
    LEAT_CHECK(find_control(field.value, 0) == field.value.size());
    body.trailers.emplace_back(field.name, field.value);
  }
  return body;
}

std::string encode(const Body& body, unsigned seed) {
  std::string out;
  PieceSizes sizes(seed);
  std::string_view rest = body.payload;
  while (!rest.empty()) {
    const std::size_t size = std::min(sizes.next(300), rest.size());
    out.append(ChunkHead(size).text()).append(rest.substr(0, size)).append(kChunkEnd);
    rest.remove_prefix(size);
  }
  std::vector<HeaderField> fields;
  for (const auto& [name, value] : body.trailers)
    fields.push_back({.name = name, .value = value});
  LEAT_CHECK(append_last_chunk(out, fields).has_value());
  return out;
}

void check_identity(const Body& body, unsigned seed) {
  const std::string wire = encode(body, seed);
  const Body again = decode(wire + "next", seed + 1);
  LEAT_CHECK(again.finished && again.consumed == wire.size());
  LEAT_CHECK(again.payload == body.payload && again.trailers == body.trailers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned seed = data[0];
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  const Body whole = decode(text, std::nullopt);
  LEAT_CHECK(decode(text, seed) == whole);
  if (whole.finished) check_identity(whole, seed);
  check_identity(Body{.payload = text}, seed);
  return 0;
}
