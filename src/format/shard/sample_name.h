// How WebDataset takes the name of a member apart: everything up to the first dot of the last path
// component is the sample's key, everything behind it the field.
//
// The rules are those of webdataset 1.0.2 to the byte, with one difference: only ASCII letters of a
// field are lower-cased, where Python's lower() knows all of Unicode.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leat::shard {

struct SampleName {
  std::string_view key;  // a part of the member's name
  std::string field{};   // lower-cased

  bool operator==(const SampleName&) const = default;
};

// Nothing of a member that WebDataset passes over: no dot, hidden at the top, `__x__` or below it.
// Lifetime: the key lives as long as `member_name`.
std::optional<SampleName> split_name(std::string_view member_name);

}  // namespace leat::shard
