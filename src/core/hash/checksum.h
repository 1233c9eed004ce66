// The five checksums that S3 clients send with an object, behind one type.
//
// A value is the big-endian digest; on the wire it is base64 in x-amz-checksum-<name>. Multipart
// uploads join the CRCs of their parts into that of the whole object (`combine`), which SHA cannot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "hash/digest.h"

namespace leat::hash {

enum class ChecksumAlgorithm : std::uint8_t { crc32, crc32c, crc64nvme, sha1, sha256 };

inline constexpr std::array kChecksumAlgorithms = {
    ChecksumAlgorithm::crc32, ChecksumAlgorithm::crc32c, ChecksumAlgorithm::crc64nvme,
    ChecksumAlgorithm::sha1, ChecksumAlgorithm::sha256};

std::string_view word_of(ChecksumAlgorithm algorithm);    // "CRC64NVME"
std::string_view header_of(ChecksumAlgorithm algorithm);  // "x-amz-checksum-crc64nvme"
std::size_t size_of(ChecksumAlgorithm algorithm);         // of a value, in bytes
// True for those whose values combine().
bool is_linear(ChecksumAlgorithm algorithm);

// Both without case.
std::optional<ChecksumAlgorithm> algorithm_from_word(std::string_view word);
std::optional<ChecksumAlgorithm> algorithm_from_header(std::string_view name);

class ChecksumValue {
 public:
  // Requires: bytes.size() == size_of(algorithm).
  ChecksumValue(ChecksumAlgorithm algorithm, Bytes bytes);
  // Nothing if it is not strict base64 of the right size.
  static std::optional<ChecksumValue> from_base64(ChecksumAlgorithm algorithm,
                                                  std::string_view text);

  ChecksumAlgorithm algorithm() const { return algorithm_; }
  Bytes bytes() const { return Bytes(bytes_).first(size_of(algorithm_)); }
  std::string base64() const;

  bool operator==(const ChecksumValue&) const = default;

 private:
  std::array<std::byte, 32> bytes_{};
  ChecksumAlgorithm algorithm_;
};

// The checksum of A then B.
// Requires: both of the same algorithm, which is_linear().
ChecksumValue combine(const ChecksumValue& a, const ChecksumValue& b, std::uint64_t size_of_b);

// A checksum over bytes that come in pieces.
class Checksum {
 public:
  explicit Checksum(ChecksumAlgorithm algorithm);

  ChecksumAlgorithm algorithm() const { return algorithm_; }
  void update(Bytes bytes);
  // Ensures: the checksum is as new and may be used again.
  ChecksumValue finish();

 private:
  // The CRC so far of any size, or a digest.
  std::variant<std::uint64_t, Sha1, Sha256> state_;
  ChecksumAlgorithm algorithm_;
};

}  // namespace leat::hash
