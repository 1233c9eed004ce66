// SHA-256, SHA-1 and MD5 over bytes that come in pieces, by OpenSSL; and HMAC-SHA-256.
//
//   Sha256 digest;
//   digest.update(first);
//   digest.update(second);
//   const Sha256::Value value = digest.finish();
//
// MD5 and SHA-1 are here because S3's ETags and checksums are made of them; nothing trusts them.
// A digest may be copied, which forks it, and belongs to one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"

struct evp_md_ctx_st;

namespace leat::hash {

enum class DigestKind : std::uint8_t { md5, sha1, sha256 };

// The state of any of them; Digest<> below is what callers use.
class DigestState {
 public:
  explicit DigestState(DigestKind kind);
  DigestState(const DigestState& other);
  DigestState& operator=(const DigestState& other);
  DigestState(DigestState&&) noexcept = default;
  DigestState& operator=(DigestState&&) noexcept = default;
  ~DigestState() = default;

  void update(Bytes bytes);
  // Requires: value.size() is the size of the digest. Ensures: the state is as new.
  void finish(MutableBytes value);

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
  DigestKind kind_;
};

template <DigestKind Kind, std::size_t Size>
class Digest {
 public:
  static constexpr std::size_t kSize = Size;
  using Value = std::array<std::byte, Size>;

  void update(Bytes bytes) { state_.update(bytes); }

  // Ensures: the digest is as new and may be used again.
  Value finish() {
    Value value;
    state_.finish(value);
    return value;
  }

  static Value of(Bytes bytes) {
    Digest digest;
    digest.update(bytes);
    return digest.finish();
  }

 private:
  DigestState state_{Kind};
};

using Md5 = Digest<DigestKind::md5, 16>;
using Sha1 = Digest<DigestKind::sha1, 20>;
using Sha256 = Digest<DigestKind::sha256, 32>;

Sha256::Value hmac_sha256(Bytes key, Bytes message);

// Takes the same time wherever two texts of one size differ. The size itself is no secret.
bool constant_time_equal(Bytes a, Bytes b);

}  // namespace leat::hash
