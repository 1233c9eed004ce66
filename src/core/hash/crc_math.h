// Arithmetic of reflected CRCs: polynomials over GF(2) modulo the CRC's own, in the bit order that
// the checksum has in a register (the highest bit is the coefficient of x^0).
//
// It gives the checksum of two pieces from the checksums of each (`combine`), and the constants of
// the folding in crc64nvme.cc. Everything is constexpr: no constant of it is written by hand.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace leat::hash {

template <class Word, Word Polynomial>
struct CrcMath {
  static constexpr Word kOne = Word{1} << (std::numeric_limits<Word>::digits - 1);  // x^0

  static constexpr Word times_x(Word a) {
    return static_cast<Word>(a >> 1 ^ ((a & 1) != 0 ? Polynomial : 0));
  }

  static constexpr Word multiply(Word a, Word b) {
    Word product = 0;
    for (; a != 0; a = static_cast<Word>(a << 1)) {
      if ((a & kOne) != 0) product ^= b;
      b = times_x(b);
    }
    return product;
  }

  // x^exponent.
  static constexpr Word power(std::uint64_t exponent) {
    Word result = kOne;
    Word square = times_x(kOne);
    for (; exponent != 0; exponent >>= 1) {
      if ((exponent & 1) != 0) result = multiply(result, square);
      square = multiply(square, square);
    }
    return result;
  }

  // kByteShifts[k] is x^(8 * 2^k): what 2^k bytes behind a message multiply its remainder by.
  static constexpr std::array<Word, 64> byte_shifts() {
    std::array<Word, 64> shifts{};
    Word square = power(8);
    for (Word& shift : shifts) {
      shift = square;
      square = multiply(square, square);
    }
    return shifts;
  }
  static constexpr std::array<Word, 64> kByteShifts = byte_shifts();

  // The checksum of A then B from both checksums and the size of B. The inversions before and
  // after that these CRCs make cancel each other.
  static constexpr Word combine(Word a, Word b, std::uint64_t size_of_b) {
    for (unsigned k = 0; size_of_b != 0; ++k, size_of_b >>= 1) {
      if ((size_of_b & 1) != 0) a = multiply(kByteShifts[k], a);
    }
    return a ^ b;
  }
};

using Crc32Math = CrcMath<std::uint32_t, 0xEDB88320U>;
using Crc32cMath = CrcMath<std::uint32_t, 0x82F63B78U>;
using Crc64NvmeMath = CrcMath<std::uint64_t, 0x9A6C9329AC4BC9B5U>;

}  // namespace leat::hash
