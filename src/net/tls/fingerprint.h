// Fingerprint: the SHA-256 of a certificate's DER, which names exactly that certificate.
//
// Written as `openssl x509 -fingerprint -sha256` writes it, AA:BB:…, so that people can compare
// what two programs show. A value, free to copy.
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace leat::tls {

class Fingerprint {
 public:
  static constexpr std::size_t kBytes = 32;

  static Fingerprint of(const X509& certificate);

  // 64 hexadecimal digits in any case, with or without colons between the pairs.
  // Errors: bad_request.
  static Result<Fingerprint> parse(std::string_view text);

  // "AA:BB:…", 95 characters.
  std::string to_string() const;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;

 private:
  std::array<std::uint8_t, kBytes> digest_{};
};

}  // namespace leat::tls
