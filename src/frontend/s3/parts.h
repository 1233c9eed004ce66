// The sizes of the parts of an object, as text: "5242880*3,17" for three parts of 5 MiB and one of
// 17 bytes. Ten thousand parts of one size take a few bytes in the index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leat::s3 {

constexpr std::uint64_t kPartNumberMax = 10'000;

std::string encode_parts(const std::vector<std::uint64_t>& sizes);

// Of what encode_parts() made.
std::uint64_t part_count(std::string_view text);
struct PartPlace {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
// Requires: 1 ≤ number ≤ part_count(text).
PartPlace part_place(std::string_view text, std::uint64_t number);

}  // namespace leat::s3
