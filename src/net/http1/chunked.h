// Chunked transfer coding (RFC 9112 §7.1), both ways.
//
// ChunkedDecoder is pushed the bytes that follow a head and points at the payload inside them; it
// never copies payload. Everything that is not payload is bounded: sizes of 1–16 hexadecimal
// digits, 256 bytes of extension a chunk and 16 KiB a body, 8 KiB and 32 fields of trailers.
// Extensions are skipped. Trailers that would change what the head said (framing, routing,
// credentials) are refused.
//
// Shard: a decoder belongs to one message of one connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "http1/line_scanner.h"
#include "http1/message.h"

namespace leat::http1 {

class ChunkedDecoder {
 public:
  static constexpr std::size_t kSizeDigitsMax = 16;
  static constexpr std::size_t kExtensionMaxBytes = 256;
  static constexpr std::size_t kExtensionsTotalMaxBytes = 16 * 1024;
  static constexpr std::size_t kTrailersMaxBytes = 8 * 1024;
  static constexpr std::size_t kTrailersMaxFields = 32;

  struct Step {
    std::size_t consumed = 0;  // bytes of the input that are done with
    Bytes payload;             // inside the consumed input; empty if this step found none
    bool finished = false;     // the body has ended; the input after `consumed` is not part of it
  };

  // `on_malformed` is what a wrong byte means: bad_request in a server, io in a client.
  explicit ChunkedDecoder(Errc on_malformed = Errc::bad_request) : on_malformed_(on_malformed) {}
  ChunkedDecoder(const ChunkedDecoder&) = delete;
  ChunkedDecoder& operator=(const ChunkedDecoder&) = delete;

  // Decodes up to and including the next piece of payload. All input was consumed, or there is
  // payload, or the body has finished; so a caller repeats with the rest of the input until it is
  // used up.
  // Requires: no step after one that failed or finished.
  // Errors: `on_malformed`.
  Result<Step> step(Bytes input);

  bool finished() const { return state_ == State::finished; }

  // Requires: finished(). Lifetime: views into the decoder.
  const HeaderBlock& trailers() const { return trailers_; }

 private:
  enum class State : std::uint8_t {
    size,
    extension,
    size_line_feed,
    data,
    data_carriage_return,
    data_line_feed,
    trailers,
    finished,
  };

  Status take_byte(char byte);
  Status take_size_byte(char byte);
  Status take_extension_byte(char byte);
  Result<std::size_t> take_trailers(std::string_view input);
  Status take_trailer_line(Line line);
  std::unexpected<Error> malformed(const char* why) const;

  State state_ = State::size;
  Errc on_malformed_;
  std::size_t size_digits_ = 0;
  std::size_t extension_bytes_ = 0;
  std::size_t extensions_total_bytes_ = 0;
  std::uint64_t chunk_left_ = 0;
  LineScanner lines_;
  std::string trailer_text_;
  HeaderBlock trailers_;
};

// What goes before the `size` bytes of a chunk: "1f4\r\n". kChunkEnd goes after them.
class ChunkHead {
 public:
  // Requires: size > 0 (a chunk of 0 ends the body: append_last_chunk).
  explicit ChunkHead(std::uint64_t size);
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, ChunkedDecoder::kSizeDigitsMax + 2> text_;
  std::size_t size_;
};

constexpr std::string_view kChunkEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

// Appends the end of a body that has trailers; kLastChunk is the same without any.
// Errors: bad_request if a name or value cannot be written, or the name is not allowed in a
// trailer; `out` is then as before.
Status append_last_chunk(std::string& out, std::span<const HeaderField> trailers);

// False for names that would change the framing, routing, meaning or authority of a message.
bool is_trailer_allowed(std::string_view name);

}  // namespace leat::http1
