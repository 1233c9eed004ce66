// How a version of an object is called outside of the node: by its number and time, or "null".
//
// Numbers are counted by each disk; with the time a name is good for all disks. A version made
// while its bucket kept none has no name of its own: "null" is whichever of these the object has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "record/types.h"

namespace leat::store {

struct VersionName {
  bool is_null = false;
  record::VersionId id{};  // 0: any null one
  std::int64_t modified_ms = 0;

  bool names(const record::Version& version) const;
};

std::string to_text(const VersionName& name);
VersionName name_of(const record::Version& version);
// Nothing, when no version can be called so.
std::optional<VersionName> parse_version_name(std::string_view text);

}  // namespace leat::store
