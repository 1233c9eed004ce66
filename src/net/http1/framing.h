// How a message's header fields say where its body ends and whether the connection lives on
// (RFC 9112 §6 and §9.3). One implementation for requests and responses: a difference between two
// readings of these fields is what request smuggling is made of, so every doubt is refused.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "http1/message.h"

namespace leat::http1 {

struct Framing {
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
};

// Errors: bad_request if Content-Length is not one number of 1*DIGIT that fits 64 bits, or stands
// twice (even if equal); if Transfer-Encoding is anything but one "chunked" or comes with HTTP/1.0;
// if both are there.
Result<Framing> framing_of(const HeaderBlock& headers, Version version);

// "close" in any Connection field ends the connection; without it HTTP/1.1 goes on and HTTP/1.0
// goes on only after "keep-alive".
bool keeps_alive(const HeaderBlock& headers, Version version);

}  // namespace leat::http1
