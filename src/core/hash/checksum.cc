#include "hash/checksum.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/encoding.h"
#include "hash/crc32.h"
#include "hash/crc32c.h"
#include "hash/crc64nvme.h"
#include "hash/crc_math.h"

namespace leat::hash {
namespace {

struct Traits {
  std::string_view word;
  std::string_view header;
  std::size_t size;
  bool linear;
};

// In the order of the enum.
constexpr std::array<Traits, kChecksumAlgorithms.size()> kTraits = {{
    {"CRC32", "x-amz-checksum-crc32", 4, true},
    {"CRC32C", "x-amz-checksum-crc32c", 4, true},
    {"CRC64NVME", "x-amz-checksum-crc64nvme", 8, true},
    {"SHA1", "x-amz-checksum-sha1", Sha1::kSize, false},
    {"SHA256", "x-amz-checksum-sha256", Sha256::kSize, false},
}};

const Traits& traits_of(ChecksumAlgorithm algorithm) {
  return kTraits[static_cast<std::size_t>(algorithm)];
}

bool same_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::optional<ChecksumAlgorithm> find(std::string_view name, std::string_view Traits::* column) {
  for (const ChecksumAlgorithm algorithm : kChecksumAlgorithms) {
    if (same_without_case(traits_of(algorithm).*column, name)) return algorithm;
  }
  return std::nullopt;
}

ChecksumValue from_number(ChecksumAlgorithm algorithm, std::uint64_t number) {
  std::array<std::byte, 8> bytes;
  const std::size_t size = size_of(algorithm);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(number >> (8 * (size - 1 - i)));
  return {algorithm, Bytes(bytes).first(size)};
}

std::uint64_t to_number(const ChecksumValue& value) {
  std::uint64_t number = 0;
  const Bytes bytes = value.bytes();
  for (const std::byte byte : bytes)
    number = number << 8 | std::to_integer<std::uint64_t>(byte);
  return number;
}

std::variant<std::uint64_t, Sha1, Sha256> fresh_state(ChecksumAlgorithm algorithm) {
  if (algorithm == ChecksumAlgorithm::sha1) return Sha1();
  if (algorithm == ChecksumAlgorithm::sha256) return Sha256();
  return std::uint64_t{0};
}

std::uint64_t extend(ChecksumAlgorithm algorithm, std::uint64_t so_far, Bytes bytes) {
  if (algorithm == ChecksumAlgorithm::crc64nvme) return crc64nvme(bytes, so_far);
  const auto narrow = static_cast<std::uint32_t>(so_far);
  return algorithm == ChecksumAlgorithm::crc32 ? crc32(bytes, narrow) : crc32c(bytes, narrow);
}

}  // namespace

std::string_view word_of(ChecksumAlgorithm algorithm) {
  return traits_of(algorithm).word;
}
std::string_view header_of(ChecksumAlgorithm algorithm) {
  return traits_of(algorithm).header;
}
std::size_t size_of(ChecksumAlgorithm algorithm) {
  return traits_of(algorithm).size;
}
bool is_linear(ChecksumAlgorithm algorithm) {
  return traits_of(algorithm).linear;
}

std::optional<ChecksumAlgorithm> algorithm_from_word(std::string_view word) {
  return find(word, &Traits::word);
}
std::optional<ChecksumAlgorithm> algorithm_from_header(std::string_view name) {
  return find(name, &Traits::header);
}

ChecksumValue::ChecksumValue(ChecksumAlgorithm algorithm, Bytes bytes) : algorithm_(algorithm) {
  LEAT_CHECK(bytes.size() == size_of(algorithm));
  std::ranges::copy(bytes, bytes_.begin());
}

std::optional<ChecksumValue> ChecksumValue::from_base64(ChecksumAlgorithm algorithm,
                                                        std::string_view text) {
  const auto bytes = leat::from_base64(text);
  if (!bytes || bytes->size() != size_of(algorithm)) return std::nullopt;
  return ChecksumValue(algorithm, *bytes);
}

std::string ChecksumValue::base64() const {
  return to_base64(bytes());
}

ChecksumValue combine(const ChecksumValue& a, const ChecksumValue& b, std::uint64_t size_of_b) {
  const ChecksumAlgorithm algorithm = a.algorithm();
  LEAT_CHECK(b.algorithm() == algorithm && is_linear(algorithm));
  const std::uint64_t first = to_number(a);
  const std::uint64_t second = to_number(b);
  if (algorithm == ChecksumAlgorithm::crc64nvme)
    return from_number(algorithm, Crc64NvmeMath::combine(first, second, size_of_b));
  const auto narrow_first = static_cast<std::uint32_t>(first);
  const auto narrow_second = static_cast<std::uint32_t>(second);
  return from_number(algorithm, algorithm == ChecksumAlgorithm::crc32
                                    ? Crc32Math::combine(narrow_first, narrow_second, size_of_b)
                                    : Crc32cMath::combine(narrow_first, narrow_second, size_of_b));
}

Checksum::Checksum(ChecksumAlgorithm algorithm)
    : state_(fresh_state(algorithm)), algorithm_(algorithm) {}

void Checksum::update(Bytes bytes) {
  if (auto* const crc = std::get_if<std::uint64_t>(&state_)) {
    *crc = extend(algorithm_, *crc, bytes);
  } else if (auto* const sha1 = std::get_if<Sha1>(&state_)) {
    sha1->update(bytes);
  } else {
    std::get<Sha256>(state_).update(bytes);
  }
}

ChecksumValue Checksum::finish() {
  if (auto* const crc = std::get_if<std::uint64_t>(&state_))
    return from_number(algorithm_, std::exchange(*crc, 0));
  if (auto* const sha1 = std::get_if<Sha1>(&state_)) return {algorithm_, sha1->finish()};
  return {algorithm_, std::get<Sha256>(state_).finish()};
}

}  // namespace leat::hash
