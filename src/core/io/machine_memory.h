// How much memory this process may count on.
#pragma once

#include <cstdint>
#include <string>

#include "io/disk.h"

namespace leat::io {

// What the machine has, or less if the control group of a container or service says so. 0: nobody
// knows. `groups` is where control groups are mounted.
std::uint64_t machine_memory_bytes(Disk& disk, const std::string& groups = "/sys/fs/cgroup");

}  // namespace leat::io
