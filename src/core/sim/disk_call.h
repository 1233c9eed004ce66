// DiskCall: the kinds of calls a simulated disk counts, logs and fails on request.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace leat::sim {

enum class DiskCall : std::uint8_t {
  open,
  read,
  write,
  sync,
  truncate,
  info,
  lock,
  rename,
  remove,
  make_directories,
  list,
  sync_directory,
  space,
};

inline constexpr std::array<std::string_view, 13> kDiskCallNames = {
    "open", "read",           "write",  "sync",   "truncate",
    "info", "lock",           "rename", "remove", "make_directories",
    "list", "sync_directory", "space"};

constexpr std::string_view name_of(DiskCall call) {
  return kDiskCallNames[static_cast<std::size_t>(call)];
}

}  // namespace leat::sim
