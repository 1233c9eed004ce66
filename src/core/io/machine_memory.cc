#include "io/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace leat::io {
namespace {

// What a file says that holds one number; 0 if there is none, or another word ("max").
std::uint64_t number_in(Disk& disk, const std::string& path) {
  std::array<char, 32> text{};
  const auto read = disk.read_file(path, 0, std::as_writable_bytes(std::span(text)));
  std::uint64_t number = 0;
  if (read) std::from_chars(text.data(), text.data() + read->count, number);
  return number;
}

}  // namespace

std::uint64_t machine_memory_bytes(Disk& disk, const std::string& groups) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  std::uint64_t bytes = 0;
  if (pages > 0 && page_bytes > 0) {
    bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  // A container sees its own group at the root: of version 2, or of version 1.
  for (const char* const name : {"/memory.max", "/memory/memory.limit_in_bytes"}) {
    const std::uint64_t limit = number_in(disk, groups + name);
    if (limit > 0) bytes = bytes > 0 ? std::min(bytes, limit) : limit;
  }
  return bytes;
}

}  // namespace leat::io
