// Archives for tests.
#pragma once

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

}  // namespace leat::test
