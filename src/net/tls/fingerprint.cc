#include "tls/fingerprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <charconv>

#include "base/check.h"

namespace leat::tls {

Fingerprint Fingerprint::of(const X509& certificate) {
  Fingerprint fingerprint;
  unsigned size = 0;
  LEAT_CHECK(X509_digest(&certificate, EVP_sha256(), fingerprint.digest_.data(), &size) == 1);
  LEAT_CHECK(size == kBytes);
  return fingerprint;
}

Result<Fingerprint> Fingerprint::parse(std::string_view text) {
  const bool has_colons = text.size() == 3 * kBytes - 1;
  if (!has_colons && text.size() != 2 * kBytes) {
    return fail(Errc::bad_request, "a SHA-256 fingerprint has 32 pairs of hexadecimal digits");
  }
  Fingerprint fingerprint;
  const std::size_t step = has_colons ? 3 : 2;
  for (std::size_t i = 0; i < kBytes; ++i) {
    const std::string_view pair = text.substr(i * step, 2);
    const auto read = std::from_chars(pair.begin(), pair.end(), fingerprint.digest_[i], 16);
    const bool joined = i == 0 || !has_colons || text[i * step - 1] == ':';
    if (read.ec != std::errc() || read.ptr != pair.end() || !joined) {
      return fail(Errc::bad_request, "a SHA-256 fingerprint looks like AA:BB:… or aabb…");
    }
  }
  return fingerprint;
}

std::string Fingerprint::to_string() const {
  return fmt::format("{:02X}", fmt::join(digest_, ":"));
}

}  // namespace leat::tls
