// The bytes of a tar archive that are not data: headers, padding, the end.
//
//   archive = for each member: header(member), its data, padding(size) zeros; kEndBytes zeros
//
// The same members give the same bytes, always: ustar, mode 0444, owner 0 without names. A PAX
// header stands before a member only if its name, size or time does not fit into ustar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace leat::tar {

struct NewMember {
  std::string_view name;  // bytes; not empty, no NUL, no slash at its end
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_s = 0;
};

// All blocks before the data. Requires: a name as above.
std::string header(const NewMember& member);

// The length of header(member), without making it.
std::uint64_t header_bytes(const NewMember& member);

// How many zero bytes follow the data, up to a multiple of 512.
std::uint64_t padding(std::uint64_t size_bytes);

constexpr std::uint64_t kEndBytes = 1024;  // two zero blocks

}  // namespace leat::tar
