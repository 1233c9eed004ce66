#include "hash/crc64nvme.h"

#include <array>
#include <bit>
#include <cstring>

#include "hash/crc_math.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace leat::hash {
namespace {

static_assert(std::endian::native == std::endian::little);

using Math = Crc64NvmeMath;
using Tables = std::array<std::array<std::uint64_t, 256>, 8>;

// tables[k][byte] is the remainder of a byte with k more bytes behind it.
constexpr Tables make_tables() {
  Tables tables{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::uint64_t remainder = byte;
    for (auto& table : tables) {
      for (int bit = 0; bit < 8; ++bit)
        remainder = Math::times_x(remainder);
      table[byte] = remainder;
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

std::uint64_t load(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The remainder of what `remainder` stands for with `bytes` behind it; no inversions.
std::uint64_t extend(std::uint64_t remainder, Bytes bytes) {
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t word = remainder ^ load(bytes.data());
    remainder = 0;
    for (unsigned i = 0; i < 8; ++i)
      remainder ^= kTables[7 - i][word >> (8 * i) & 0xff];
  }
  for (const std::byte byte : bytes) {
    remainder =
        kTables[0][(remainder ^ std::to_integer<std::uint64_t>(byte)) & 0xff] ^ remainder >> 8;
  }
  return remainder;
}

#if defined(__x86_64__)

// Moving 16 bytes forward by `bits` multiplies them by x^bits. The halves are 64 apart, and the
// product of two reflected words comes out one place too high: hence +64 and -1.
[[gnu::target("pclmul,sse4.1")]] __m128i fold_constants(std::uint64_t first_half,
                                                        std::uint64_t second_half) {
  return _mm_set_epi64x(std::bit_cast<long long>(second_half),
                        std::bit_cast<long long>(first_half));
}

[[gnu::target("pclmul,sse4.1")]] __m128i fold(__m128i lane, __m128i constants, __m128i onto) {
  const __m128i first = _mm_clmulepi64_si128(lane, constants, 0x00);
  const __m128i second = _mm_clmulepi64_si128(lane, constants, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), onto);
}

[[gnu::target("pclmul,sse4.1")]] __m128i load_lane(const std::byte* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// Requires: at least 64 bytes.
[[gnu::target("pclmul,sse4.1")]] std::uint64_t extend_by_folding(std::uint64_t remainder,
                                                                 Bytes bytes) {
  constexpr std::uint64_t kBy512[] = {Math::power(512 + 64 - 1), Math::power(512 - 1)};
  constexpr std::uint64_t kBy128[] = {Math::power(128 + 64 - 1), Math::power(128 - 1)};
  const __m128i by512 = fold_constants(kBy512[0], kBy512[1]);
  const __m128i by128 = fold_constants(kBy128[0], kBy128[1]);

  __m128i lanes[4];
  for (std::size_t i = 0; i < 4; ++i)
    lanes[i] = load_lane(bytes.data() + 16 * i);
  lanes[0] = _mm_xor_si128(lanes[0], fold_constants(remainder, 0));
  for (bytes = bytes.subspan(64); bytes.size() >= 64; bytes = bytes.subspan(64)) {
    for (std::size_t i = 0; i < 4; ++i)
      lanes[i] = fold(lanes[i], by512, load_lane(bytes.data() + 16 * i));
  }
  __m128i lane = lanes[0];
  for (std::size_t i = 1; i < 4; ++i)
    lane = fold(lane, by128, lanes[i]);
  for (; bytes.size() >= 16; bytes = bytes.subspan(16))
    lane = fold(lane, by128, load_lane(bytes.data()));

  // What is left has the remainder of everything so far; the tables finish it.
  std::array<std::byte, 16> folded;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(folded.data()), lane);
  return extend(extend(0, folded), bytes);
}

bool can_fold() {
  static const bool can = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return can;
}

#endif

}  // namespace

std::uint64_t crc64nvme_by_table(Bytes bytes, std::uint64_t so_far) {
  return ~extend(~so_far, bytes);
}

std::uint64_t crc64nvme(Bytes bytes, std::uint64_t so_far) {
#if defined(__x86_64__)
  if (bytes.size() >= 64 && can_fold()) return ~extend_by_folding(~so_far, bytes);
#endif
  return crc64nvme_by_table(bytes, so_far);
}

}  // namespace leat::hash
