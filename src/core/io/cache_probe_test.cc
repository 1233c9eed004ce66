#include "io/cache_probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "io/disk.h"
#include "support/temp_folder.h"

namespace leat::io {
namespace {

// A page that the kernel is busy with counts as not cached for a moment.
bool becomes_cached(int fd, std::uint64_t offset, std::uint64_t length) {
  for (int tries = 0; tries < 100'000; ++tries)
    if (is_cached_by_reads(fd, offset, length)) return true;
  return false;
}

TEST(CacheProbe, SeesAHoleBetweenTwoCachedEnds) {
  constexpr off_t kSize = 4 << 20;
  const testing::TempFolder folder;
  folder.write("f", std::string(kSize, 'x'));
  PosixDisk disk;
  const auto file = disk.open(folder.path("f"), OpenMode::read_write).value();
  const int fd = file->descriptor();
  EXPECT_TRUE(becomes_cached(fd, 0, kSize)) << "just written";
  EXPECT_TRUE(is_cached_by_reads(fd, kSize, 0));
  ASSERT_TRUE(file->sync_data());
  ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
  ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);  // nothing is read ahead
  if (is_cached_by_reads(fd, kSize / 2, 1)) GTEST_SKIP() << "this file system does not let go";
  for (const off_t end : {off_t{0}, kSize - 1}) {
    char byte = 0;
    ASSERT_EQ(::pread(fd, &byte, 1, end), 1);
    EXPECT_TRUE(becomes_cached(fd, static_cast<std::uint64_t>(end), 1));
  }
  EXPECT_FALSE(is_cached_by_reads(fd, 0, kSize));
}

}  // namespace
}  // namespace leat::io
