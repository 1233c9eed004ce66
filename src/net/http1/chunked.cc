#include "http1/chunked.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "http1/grammar.h"
#include "http1/head_writer.h"

namespace leat::http1 {
namespace {

// RFC 9110 §6.5.1. Known headers (Header) are all forbidden and not repeated here.
constexpr std::array<std::string_view, 21> kForbiddenTrailers = {
    "age",
    "cache-control",
    "content-encoding",
    "content-range",
    "cookie",
    "date",
    "expires",
    "keep-alive",
    "location",
    "max-forwards",
    "pragma",
    "proxy-authenticate",
    "proxy-authorization",
    "retry-after",
    "set-cookie",
    "te",
    "trailer",
    "upgrade",
    "vary",
    "warning",
    "www-authenticate",
};

}  // namespace

bool is_trailer_allowed(std::string_view name) {
  if (header_from(name) != Header::other) return false;
  return std::ranges::none_of(kForbiddenTrailers, [name](std::string_view forbidden) {
    return equals_ignore_case(name, forbidden);
  });
}

std::unexpected<Error> ChunkedDecoder::malformed(const char* why) const {
  return fail(on_malformed_, why);
}

Result<ChunkedDecoder::Step> ChunkedDecoder::step(Bytes input) {
  LEAT_CHECK(state_ != State::finished);
  const std::string_view text = as_text(input);
  std::size_t at = 0;
  while (at < text.size()) {
    if (state_ == State::data) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left_, text.size() - at));
      chunk_left_ -= size;
      if (chunk_left_ == 0) state_ = State::data_carriage_return;
      return Step{.consumed = at + size, .payload = input.subspan(at, size), .finished = false};
    }
    if (state_ == State::trailers) {
      LEAT_TRY(const std::size_t taken, take_trailers(text.substr(at)));
      return Step{.consumed = at + taken, .payload = {}, .finished = finished()};
    }
    LEAT_DO(take_byte(text[at]));
    ++at;
  }
  return Step{.consumed = at, .payload = {}, .finished = false};
}

Status ChunkedDecoder::take_byte(char byte) {
  switch (state_) {
    case State::size: return take_size_byte(byte);
    case State::extension: return take_extension_byte(byte);
    case State::size_line_feed:
      if (byte != '\n') return malformed("chunk size line does not end in CRLF");
      state_ = chunk_left_ == 0 ? State::trailers : State::data;
      return {};
    case State::data_carriage_return:
      if (byte != '\r') return malformed("chunk is longer than its size says");
      state_ = State::data_line_feed;
      return {};
    case State::data_line_feed:
      if (byte != '\n') return malformed("chunk does not end in CRLF");
      state_ = State::size;
      size_digits_ = 0;
      extension_bytes_ = 0;
      return {};
    case State::data:
    case State::trailers:
    case State::finished: break;
  }
  LEAT_CHECK(false);
  return {};
}

Status ChunkedDecoder::take_size_byte(char byte) {
  if (const auto digit = hex_digit(byte)) {
    if (size_digits_ == kSizeDigitsMax) return malformed("chunk size has too many digits");
    chunk_left_ = chunk_left_ << 4 | *digit;
    ++size_digits_;
    return {};
  }
  if (size_digits_ == 0) return malformed("chunk size is not hexadecimal");
  if (byte == '\r') {
    state_ = State::size_line_feed;
    return {};
  }
  if (byte != ';') return malformed("chunk size is not hexadecimal");
  state_ = State::extension;
  return take_extension_byte(byte);
}

Status ChunkedDecoder::take_extension_byte(char byte) {
  if (byte == '\r') {
    state_ = State::size_line_feed;
    return {};
  }
  if (has_class(byte, char_class::kControl)) return malformed("control byte in a chunk extension");
  if (++extension_bytes_ > kExtensionMaxBytes) return malformed("chunk extension is too long");
  if (++extensions_total_bytes_ > kExtensionsTotalMaxBytes) {
    return malformed("chunk extensions are too long together");
  }
  return {};
}

Result<std::size_t> ChunkedDecoder::take_trailers(std::string_view input) {
  std::size_t at = 0;
  while (at < input.size() && !finished()) {
    // One line at most is taken over: what follows the empty line belongs to somebody else.
    const std::size_t line_feed = input.find('\n', at);
    const std::size_t end = line_feed == std::string_view::npos ? input.size() : line_feed + 1;
    if (trailer_text_.size() + (end - at) > kTrailersMaxBytes) {
      return malformed("trailers are too large");
    }
    trailer_text_.append(input.substr(at, end - at));
    at = end;
    const auto line = lines_.next(trailer_text_);
    if (!line) return fail(on_malformed_, std::string(line.error().detail()));
    if (*line) LEAT_DO(take_trailer_line(**line));
  }
  return at;
}

Status ChunkedDecoder::take_trailer_line(Line line) {
  if (line.begin == line.end) {
    trailers_.bind(trailer_text_);
    state_ = State::finished;
    return {};
  }
  const std::string_view text = trailer_text_;
  if (const auto added = trailers_.add_line(text, line, kTrailersMaxFields); !added) {
    return fail(on_malformed_, std::string(added.error().detail()));
  }
  const std::size_t colon = text.find(':', line.begin);
  if (!is_trailer_allowed(text.substr(line.begin, colon - line.begin))) {
    return malformed("field that is not allowed in a trailer");
  }
  return {};
}

ChunkHead::ChunkHead(std::uint64_t size) {
  LEAT_CHECK(size > 0);
  char* const first = text_.data();
  char* end = std::to_chars(first, first + ChunkedDecoder::kSizeDigitsMax, size, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  size_ = static_cast<std::size_t>(end - first);
}

Status append_last_chunk(std::string& out, std::span<const HeaderField> trailers) {
  const std::size_t before = out.size();
  out.append("0\r\n");
  for (const HeaderField& field : trailers) {
    Status added = is_trailer_allowed(field.name)
                       ? append_field(out, field.name, field.value)
                       : Status(fail(Errc::bad_request, "field that is not allowed in a trailer"));
    if (!added) {
      out.resize(before);
      return added;
    }
  }
  out.append("\r\n");
  return {};
}

}  // namespace leat::http1
