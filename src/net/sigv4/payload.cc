#include "sigv4/payload.h"

#include <array>
#include <utility>

#include "base/encoding.h"

namespace leat::sigv4 {
namespace {

using s3error::refuse;
using s3error::S3Code;

constexpr std::array<std::pair<std::string_view, PayloadKind>, 4> kWords = {{
    {"UNSIGNED-PAYLOAD", PayloadKind::unsigned_plain},
    {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD", PayloadKind::stream_signed},
    {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", PayloadKind::stream_signed_trailer},
    {"STREAMING-UNSIGNED-PAYLOAD-TRAILER", PayloadKind::stream_unsigned_trailer},
}};

}  // namespace

s3error::S3Result<Payload> payload_from(std::string_view word) {
  for (const auto& [text, kind] : kWords) {
    if (word == text) return Payload{.kind = kind, .word = std::string(word)};
  }
  if (word.size() == 64 && from_hex(word))
    return Payload{.kind = PayloadKind::hashed, .word = std::string(word)};
  if (word == "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD" ||
      word == "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER")
    return refuse(S3Code::not_implemented, "SigV4A (AWS4-ECDSA-P256-SHA256) is not implemented.");
  return refuse(S3Code::invalid_request,
                "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING-... word, or the "
                "SHA-256 of the body in 64 hexadecimal digits.");
}

}  // namespace leat::sigv4
