#include "io/machine_memory.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace leat::io {
namespace {

TEST(MachineMemory, IsWhatTheMachineHasOrTheGroupAllows) {
  const testing::TempFolder folder;
  PosixDisk disk;
  const std::uint64_t all = machine_memory_bytes(disk, folder.path());
  EXPECT_GT(all, 0U);
  folder.write("memory.max", "max\n");
  EXPECT_EQ(machine_memory_bytes(disk, folder.path()), all);
  folder.write("memory.max", "1048576\n");
  EXPECT_EQ(machine_memory_bytes(disk, folder.path()), 1048576U);
  // Version 1 says a number that no machine has.
  folder.write("memory.max", "max\n");
  folder.write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(machine_memory_bytes(disk, folder.path()), all);
}

}  // namespace
}  // namespace leat::io
