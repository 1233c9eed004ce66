// leat_tar_pack: a shard as Leat writes it, with its index, on standard output. Each line of
// standard input is a member: its name in hexadecimal, a space, its data in hexadecimal.
#include <cstdio>
#include <iostream>
#include <string>

#include "base/check.h"
#include "base/encoding.h"
#include "shard/index.h"
#include "tar/writer.h"

namespace {

using namespace leat;

std::string bytes_of(std::string_view hex) {
  const auto bytes = from_hex(hex);
  LEAT_CHECK(bytes.has_value());
  return std::string(as_text(*bytes));
}

}  // namespace

int main() {
  shard::Builder builder;
  std::string archive;
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t space = line.find(' ');
    const std::string name = bytes_of(std::string_view(line).substr(0, space));
    const std::string data = bytes_of(std::string_view(line).substr(space + 1));
    const std::uint64_t start = archive.size();
    archive += tar::header({.name = name, .size_bytes = data.size()});
    builder.add({.name = name,
                 .kind = tar::Kind::file,
                 .start = start,
                 .data_offset = archive.size(),
                 .size_bytes = data.size()});
    archive += data;
    archive.append(tar::padding(data.size()), '\0');
  }
  archive += builder.finish_archive(archive.size());
  return std::fwrite(archive.data(), 1, archive.size(), stdout) == archive.size() ? 0 : 1;
}
