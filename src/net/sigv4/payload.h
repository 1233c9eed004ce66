// What x-amz-content-sha256 says about a body: its hash, that there is none, or how it is streamed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "s3error/s3error.h"

namespace leat::sigv4 {

enum class PayloadKind : std::uint8_t {
  hashed,                   // the SHA-256 of the body
  unsigned_plain,           // UNSIGNED-PAYLOAD
  stream_signed,            // STREAMING-AWS4-HMAC-SHA256-PAYLOAD
  stream_signed_trailer,    // STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER
  stream_unsigned_trailer,  // STREAMING-UNSIGNED-PAYLOAD-TRAILER
};

struct Payload {
  PayloadKind kind = PayloadKind::unsigned_plain;
  std::string word = "UNSIGNED-PAYLOAD";  // as sent: it is part of what is signed

  // The body is in aws-chunked framing.
  bool is_stream() const {
    return kind != PayloadKind::hashed && kind != PayloadKind::unsigned_plain;
  }
  bool has_trailer() const {
    return kind == PayloadKind::stream_signed_trailer ||
           kind == PayloadKind::stream_unsigned_trailer;
  }
};

// Errors: NotImplemented (SigV4A), InvalidRequest (any other word).
s3error::S3Result<Payload> payload_from(std::string_view word);

}  // namespace leat::sigv4
