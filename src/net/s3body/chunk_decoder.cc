#include "s3body/chunk_decoder.h"

#include <algorithm>

#include "base/check.h"
#include "base/encoding.h"
#include "http1/grammar.h"

namespace leat::s3body {
namespace {

using sigv4::PayloadKind;

constexpr std::string_view kSignatureWord = "chunk-signature=";
constexpr std::string_view kTrailerSignature = "x-amz-trailer-signature";
constexpr std::size_t kSizeDigitsMax = 16;

std::unexpected<S3Error> malformed(const std::string& why) {
  return refuse(S3Code::invalid_request, "The aws-chunked body is malformed: " + why);
}
std::unexpected<S3Error> malformed_trailer(const std::string& why) {
  return refuse(S3Code::malformed_trailer,
                "The request contained trailing data that was not well-formed or did not conform "
                "to our published schema: " +
                    why);
}
std::unexpected<S3Error> incomplete(std::string why) {
  return refuse(S3Code::incomplete_body, std::move(why));
}

bool equal(std::string_view a, std::string_view b) {
  return hash::constant_time_equal(as_bytes(a), as_bytes(b));
}

// 1–16 hexadecimal digits and nothing else.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (text.empty() || text.size() > kSizeDigitsMax) return std::nullopt;
  std::uint64_t size = 0;
  for (const char c : text) {
    const auto digit = http1::hex_digit(c);
    if (!digit) return std::nullopt;
    size = size << 4 | *digit;
  }
  return size;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), http1::to_lower);
  return out;
}

}  // namespace

ChunkDecoder::ChunkDecoder(ChunkFraming framing, std::optional<sigv4::ChunkChain> chain)
    : framing_(std::move(framing)), chain_(std::move(chain)), left_(framing_.decoded_size) {
  const PayloadKind kind = framing_.kind;
  LEAT_CHECK(kind != PayloadKind::hashed && kind != PayloadKind::unsigned_plain);
  LEAT_CHECK(is_signed() == (kind != PayloadKind::stream_unsigned_trailer));
}

S3Result<ChunkDecoder::Step> ChunkDecoder::step(Bytes input) {
  std::size_t at = 0;
  while (at < input.size()) {
    if (state_ == State::data) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left_, input.size() - at));
      const Bytes payload = input.subspan(at, size);
      if (is_signed()) chunk_hash_.update(payload);
      chunk_left_ -= size;
      if (chunk_left_ == 0) LEAT_DO(end_chunk());
      return Step{.consumed = at + size, .payload = payload};
    }
    LEAT_TRY(const LinePart part, take_line(as_text(input.subspan(at))));
    at += part.consumed;
    if (part.complete) LEAT_DO(end_line());
  }
  return Step{.consumed = at, .payload = {}};
}

S3Result<ChunkDecoder::LinePart> ChunkDecoder::take_line(std::string_view input) {
  const std::size_t line_feed = input.find('\n');
  const bool complete = line_feed != std::string_view::npos;
  const std::size_t size = complete ? line_feed + 1 : input.size();
  if (line_.size() + size > kLineMaxBytes) return malformed("a line is too long.");
  line_.append(input.substr(0, size));
  return LinePart{.consumed = size, .complete = complete};
}

// Judges the line that is complete in line_, with its line feed.
S3Status ChunkDecoder::end_line() {
  const std::string taken = std::exchange(line_, {});
  std::string_view line = taken;
  line.remove_suffix(1);
  const bool has_carriage_return = line.ends_with('\r');
  if (has_carriage_return) line.remove_suffix(1);
  if (http1::find_control(line, 0) != line.size()) return malformed("control character in a line.");
  if (state_ == State::trailers) return take_trailer(line);
  if (!has_carriage_return) return malformed("a line ends without CR.");
  if (state_ == State::chunk_head) return begin_chunk(line);
  if (state_ == State::data_end) {
    if (!line.empty()) return malformed("a chunk is longer than its size says.");
    state_ = State::chunk_head;
    return {};
  }
  LEAT_CHECK(state_ == State::ended);
  // minio-go writes one empty line more after unsigned trailers.
  if (is_signed() || !line.empty() || std::exchange(skipped_empty_line_, true))
    return malformed("something follows its end.");
  return {};
}

S3Status ChunkDecoder::begin_chunk(std::string_view line) {
  const std::size_t semicolon = std::min(line.find(';'), line.size());
  const auto size = parse_size(line.substr(0, semicolon));
  if (!size) return malformed("a chunk size is not hexadecimal.");
  std::string_view extension = line.substr(semicolon);
  if (is_signed()) {
    if (!extension.starts_with(';') || !extension.substr(1).starts_with(kSignatureWord))
      return malformed("a chunk has no signature.");
    chunk_signature_ = extension.substr(1 + kSignatureWord.size());
  } else if (!extension.empty()) {
    return malformed("a chunk of an unsigned body has an extension.");
  }
  LEAT_DO(check_size(*size));
  ++chunks_;
  chunk_size_ = *size;
  chunk_left_ = *size;
  left_ -= *size;
  if (*size != 0) {
    state_ = State::data;
    return {};
  }
  LEAT_DO(end_chunk());
  state_ = State::trailers;
  return {};
}

S3Status ChunkDecoder::check_size(std::uint64_t size) {
  if (size > left_) return incomplete("The body is longer than x-amz-decoded-content-length.");
  if (size == 0) {
    if (left_ == 0) return {};
    return incomplete(
        "You did not provide the number of bytes specified by the x-amz-decoded-content-length "
        "HTTP header.");
  }
  if (chunk_size_ >= kChunkMinBytes) return {};
  auto refusal = refuse(S3Code::invalid_chunk_size,
                        "Only the last chunk is allowed to have a size less than 8192 bytes");
  refusal.error().details = {{"Chunk", std::to_string(chunks_)},
                             {"BadChunkSize", std::to_string(chunk_size_)}};
  return refusal;
}

S3Status ChunkDecoder::end_chunk() {
  state_ = State::data_end;
  if (!is_signed()) return {};
  if (equal(chain_->next(chunk_hash_.finish()), chunk_signature_)) return {};
  return refuse(S3Code::signature_does_not_match,
                "The signature of chunk " + std::to_string(chunks_) +
                    " does not match the signature we calculated.");
}

S3Status ChunkDecoder::take_trailer(std::string_view line) {
  const bool awaits_signature =
      framing_.kind == PayloadKind::stream_signed_trailer && !trailers_verified_;
  if (line.empty()) {
    // minio-go separates the trailers from their signature by an empty line.
    if (!awaits_signature) return end_trailers();
    if (trailers_.empty() || std::exchange(skipped_empty_line_, true))
      return malformed_trailer("there is no signature.");
    return {};
  }
  if (framing_.kind == PayloadKind::stream_signed)
    return malformed("something follows its last chunk.");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return malformed_trailer("a line has no colon.");
  const std::string name = lower(line.substr(0, colon));
  const std::string_view value = http1::trim_ows(line.substr(colon + 1));
  if (name == kTrailerSignature && awaits_signature) return take_trailer_signature(value);
  if (trailers_verified_) return malformed_trailer("a trailer follows the signature.");
  if (std::ranges::find(framing_.trailers, name) == framing_.trailers.end())
    return malformed_trailer("x-amz-trailer does not announce \"" + name + "\".");
  const auto same = [&name](const auto& trailer) { return trailer.first == name; };
  if (std::ranges::any_of(trailers_, same)) return malformed_trailer("a trailer stands twice.");
  trailers_.emplace_back(name, value);
  return {};
}

S3Status ChunkDecoder::take_trailer_signature(std::string_view value) {
  std::string signed_text;
  for (const auto& [name, trailer] : trailers_)
    signed_text.append(name).append(":").append(trailer).append("\n");
  if (!equal(chain_->trailer(signed_text), value)) {
    return refuse(S3Code::signature_does_not_match,
                  "The signature of the trailers does not match the signature we calculated.");
  }
  trailers_verified_ = true;
  return {};
}

S3Status ChunkDecoder::end_trailers() {
  if (trailers_.size() != framing_.trailers.size())
    return malformed_trailer("a trailer that x-amz-trailer announces is missing.");
  skipped_empty_line_ = false;
  state_ = State::ended;
  return {};
}

S3Status ChunkDecoder::finish() const {
  if (state_ != State::ended) return incomplete("The aws-chunked body ends too early.");
  if (!line_.empty()) return malformed("something follows its end.");
  return {};
}

}  // namespace leat::s3body
