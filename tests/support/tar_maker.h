// Archives for tests.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tar/writer.h"

namespace leat::test {

inline std::string tar_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string archive;
  for (const auto& [name, data] : members) {
    archive += tar::header({.name = name, .size_bytes = data.size()});
    archive += data;
    archive.append(tar::padding(data.size()), '\0');
  }
  return archive.append(tar::kEndBytes, '\0');
}

// A member of another type than a file: '1' and '2' are links, '5' is a directory.
inline std::string special_member(const std::string& name, char type) {
  constexpr std::size_t kChecksum = 148;
  constexpr std::size_t kType = 156;
  std::string block = tar::header({.name = name});
  block[kType] = type;
  block.replace(kChecksum, 8, 8, ' ');
  unsigned sum = 0;
  for (const char byte : block)
    sum += static_cast<unsigned char>(byte);
  block.replace(kChecksum, 7, fmt::format("{:06o}", sum) + '\0');
  return block;
}

}  // namespace leat::test
