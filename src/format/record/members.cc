#include "record/members.h"

#include <fmt/format.h>

#include <algorithm>

#include "record/identity.h"
#include "record/lines.h"

namespace leat::record {

bool Members::contains(const DiskId& disk) const {
  return std::ranges::find(disks, disk, &Member::disk) != disks.end();
}

std::string encode(const Members& members) {
  std::string text = fmt::format("leat-members {}\n", members.generation);
  for (const Member& member : members.disks) {
    const bool fits = member.path.find('\n') == std::string::npos;
    text += fmt::format("disk {} {}\n", to_hex(member.disk), fits ? member.path : "");
  }
  return with_sum(std::move(text));
}

Result<Members> decode_members(std::string_view text) {
  const auto damaged = [] {
    return fail(Errc::corrupt, "the list of the node's disks is damaged");
  };
  Members members;
  std::string_view rest = text;
  if (!parse_number(take_line(rest, "leat-members"), members.generation)) return damaged();
  while (rest.starts_with("disk ")) {
    const std::string_view line = take_line(rest, "disk");
    const std::size_t space = line.find(' ');
    Member member;
    if (space == std::string_view::npos || !parse_id(line.substr(0, space), member.disk)) {
      return damaged();
    }
    member.path = line.substr(space + 1);
    members.disks.push_back(std::move(member));
  }
  if (!ends_in_sum(text, rest)) return damaged();
  return members;
}

}  // namespace leat::record
