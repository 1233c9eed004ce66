// diff(): what one snapshot has and another has not, in the order of keys, in one pass over both.
//
// Samples are told by their keys; of several with one key the first is compared with the first, and
// so on. What a sample's bytes are is not known here: `changed` means that fields came, went or
// have another size, `moved` that only the place or the version of the shard is another.
#pragma once

#include "snapshot/view.h"

namespace leat::snapshot {

enum class Difference : std::uint8_t { added, removed, changed, moved };

struct DiffEntry {
  Difference difference{};
  std::string_view key;  // valid during the call
  std::optional<Row> before;
  std::optional<Row> after;
};

// Calls `visit` until it says false.
// Errors: corrupt.
Status diff(const View& before, const View& after,
            const std::function<bool(const DiffEntry&)>& visit);

}  // namespace leat::snapshot
