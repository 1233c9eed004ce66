// The number of descriptors this process may have open.
//
// The usual soft limit (1024) is a default for programs that use select(); the hard limit is what
// the operator allows. A server takes all it is allowed, and sizes its tables by what it got.
#pragma once

#include <cstdint>

namespace leat::io {

struct DescriptorLimit {
  std::uint64_t before = 0;
  std::uint64_t now = 0;
};

// How many it may have now.
std::uint64_t descriptor_limit();

// Raises the soft limit to the hard one. Not being allowed to is no error: `now` says what holds.
DescriptorLimit raise_descriptor_limit();

}  // namespace leat::io
