// Whether what is here must be sent there: decided from names, sizes and times. Pure.
//
// Equal names and sizes are not taken for equal bytes unless the times say that one was made from
// the other; when in doubt the contents decide (`compare`), which costs a read, never a loss. Of a
// file no time says that it was sent, so that uploads are always in doubt.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace leat::transfer {

// A file or an object, named relative to where the transfer starts.
struct Entry {
  std::string name{};
  std::uint64_t size_bytes = 0;
  WallTime modified{};  // as it is kept there
  std::string etag{};   // of an object
};

enum class Verdict : std::uint8_t {
  send,     // it is not there, or differs for certain
  compare,  // their contents must be compared
  skip,     // it is there
  remove,   // it is there and not here
  leave,    // the same, but nobody asked for its removal
};

enum class Direction : std::uint8_t { up, down, between };

struct Rules {
  Direction direction = Direction::up;
  bool force = false;       // send all
  bool by_content = false;  // never trust times
  bool remove_extra = false;
};

// Requires: one of them is there, and if both are, their names are equal.
Verdict judge(const Entry* source, const Entry* target, const Rules& rules);

}  // namespace leat::transfer
