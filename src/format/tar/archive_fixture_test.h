// Archives for tests, block by block, with any fault one likes.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "tar/scanner.h"

namespace leat::tar {

// Numbers that look random and are the same for the same seed, everywhere (splitmix64).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBU;
    return mixed ^ mixed >> 31;
  }

 private:
  std::uint64_t state_;
};

struct Block {
  std::string_view name = "a.jpg";
  char type = '0';
  std::string size = "00000000000";
  std::string_view magic{
      "ustar\0"
      "00",
      8};
  std::string_view prefix{};

  std::string bytes() const {
    std::string block(kBlockBytes, '\0');
    const auto put = [&](std::size_t at, std::string_view text) {
      block.replace(at, text.size(), text);
    };
    put(0, name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, size);
    put(136, "00000000000");
    block[156] = type;
    put(257, magic);
    put(345, prefix);
    return sealed(block);
  }

  // With the right checksum.
  static std::string sealed(std::string block) {
    block.replace(148, 8, "        ");
    unsigned sum = 0;
    for (const char byte : block)
      sum += static_cast<unsigned char>(byte);
    block.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    return block;
  }
};

inline constexpr std::string_view kGnuMagic("ustar  \0", 8);
inline constexpr std::string_view kNoMagic("\0\0\0\0\0\0\0\0", 8);
inline const std::string kEnd(1024, '\0');

inline std::string octal_field(std::uint64_t value) {
  return fmt::format("{:011o}", value);
}

inline std::string padded(std::string_view data) {
  std::string bytes(data);
  bytes.resize((bytes.size() + 511) / 512 * 512, '\0');
  return bytes;
}

// A header of any kind, with a body.
inline std::string with_body(Block block, std::string_view body) {
  block.size = octal_field(body.size());
  return block.bytes() + padded(body);
}

inline std::string file(std::string_view name, std::string_view data) {
  return with_body({.name = name}, data);
}

inline std::string pax(std::string_view records, char type = 'x') {
  return with_body({.name = "././@PaxHeader", .type = type}, records);
}

// "12 path=abc\n": the length counts itself.
inline std::string record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (length != rest + fmt::to_string(length).size())
    length = rest + fmt::to_string(length).size();
  return fmt::format("{} {}=", length, key) + std::string(value) + "\n";
}

inline std::string long_name(std::string_view name, char type = 'L') {
  return with_body({.name = "././@LongLink", .type = type, .magic = kGnuMagic},
                   std::string(name) + std::string(1, '\0'));
}

struct Scanned {
  Scanner::State state = Scanner::State::undecided;
  std::string problem{};
  std::vector<Member> members{};
  std::uint64_t offset = 0;

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Member& member : members)
      result.push_back(member.name);
    return result;
  }
  bool operator==(const Scanned&) const = default;
};

inline Scanned scan(std::string_view archive, Limits limits = {}) {
  Scanned result;
  Scanner scanner([&](const Member& member) { result.members.push_back(member); }, limits);
  scanner.feed(as_bytes(archive));
  scanner.finish();
  result.state = scanner.state();
  result.problem = scanner.problem();
  result.offset = scanner.offset();
  return result;
}

}  // namespace leat::tar
