// Rotten bits, missing files and failing calls: an error or the truth, and nothing flushed is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "kv/kv_world_test.h"

namespace leat::kv {
namespace {

using sim::CrashMode;
using sim::DiskCall;

constexpr int kFlushed = 9;
constexpr std::uint64_t kEndBytes = 256;  // of a table file: what RocksDB does not check well

class KvDamage : public KvWorld {
 protected:
  // Two tables of which one hides keys of the other, and one that was merged, and has blocks beyond
  // what its seal covers.
  KvDamage() {
    const auto map = must_open(disk);
    Batch batch;
    io::SeededRng rng(1);
    for (int i = 0; i < 300; ++i) {
      const std::string key = fmt::format("s {}", i);
      const std::string value = fmt::format("{:x}{:x}{:x}", rng.next(), rng.next(), rng.next());
      batch.put(key, value);
      truth.emplace(key, value);
    }
    EXPECT_TRUE(map->write(batch));
    write_and_flush(*map, 1, 4);
    EXPECT_TRUE(map->compact());
    write_and_flush(*map, 5, 7);
    write_and_flush(*map, 8, kFlushed);
  }

  static std::string path_of(const std::string& name) { return std::string(kFolder) + "/" + name; }
  std::vector<std::string> names() { return disk.list(kFolder).value(); }
  std::uint64_t size_of(const std::string& name) {
    return disk.info(path_of(name)).value().size_bytes;
  }

  std::unique_ptr<sim::SimDisk> rotten(const std::string& name, std::uint64_t byte, unsigned bit) {
    auto copy = disk.fork();
    EXPECT_TRUE(copy->flip_bit(path_of(name), byte, bit));
    return copy;
  }

  Content truth = content_after(kFlushed);
};

bool is_corrupt(const Error& error) {
  EXPECT_EQ(error.code(), Errc::corrupt) << error.message();
  return error.code() == Errc::corrupt;
}

// Every way to read gives the truth or says that it cannot. True when all gave the truth.
bool check_answers(const Kv& map, const Content& truth) {
  bool all_well = true;
  const auto content = read_all(map);
  if (content) {
    EXPECT_EQ(*content, truth);
  } else {
    all_well = !is_corrupt(content.error());
  }
  for (const auto& [key, value] : truth) {
    const auto found = map.get(key);
    if (found) {
      EXPECT_EQ(*found, value) << key;
    } else {
      all_well = !is_corrupt(found.error());
    }
  }
  const auto absent = map.get("own 0001 0");
  if (absent) {
    EXPECT_EQ(*absent, std::nullopt) << "an erased key came back";
  }
  return all_well;
}

// True when the flip was noticed by somebody.
bool check_rotten(io::Disk& disk, const Content& truth) {
  const auto map = Kv::open(disk, kFolder, kQuiet);
  if (!map) return is_corrupt(map.error());
  const bool all_well = check_answers(**map, truth);
  const auto verified = (*map)->verify();
  if (!verified) return is_corrupt(verified.error());
  EXPECT_TRUE(all_well) << "verify() overlooks what reading finds";
  return !all_well;
}

// Every bit where it is cheap and where a table is weakest; elsewhere one bit of every few bytes.
TEST_F(KvDamage, AFlippedBitIsNoticedOrChangesNothing) {
  for (const std::string& name : names()) {
    const std::uint64_t size = size_of(name);
    for (std::uint64_t byte = 0; byte < size; ++byte) {
      const bool try_all = !name.ends_with(".sst") || byte + kEndBytes >= size;
      if (!try_all && byte % 29 != 0) continue;
      for (unsigned bit = try_all ? 0 : byte % 8; bit < 8; bit += try_all ? 1 : 8) {
        SCOPED_TRACE(fmt::format("{}, byte {} of {}, bit {}", name, byte, size, bit));
        const bool noticed = check_rotten(*rotten(name, byte, bit), truth);
        EXPECT_EQ(noticed, name != "LOCK" && name != "IDENTITY");
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST_F(KvDamage, AMapThatIsOpenNoticesWhatItReads) {
  for (const std::string& name : names()) {
    if (!name.ends_with(".sst")) continue;
    const auto copy = disk.fork();
    const auto map = must_open(*copy);
    ASSERT_TRUE(copy->flip_bit(path_of(name), 20, 3));
    EXPECT_FALSE(check_answers(*map, truth)) << name;
    const auto verified = map->verify();
    ASSERT_FALSE(verified);
    EXPECT_NE(verified.error().detail().find(name), std::string::npos)
        << verified.error().message();
    EXPECT_EQ(map->compact().error().code(), Errc::corrupt);
    EXPECT_EQ(write_batch(*map, kFlushed + 1).error().code(), Errc::corrupt);
  }
}

TEST_F(KvDamage, VerifyAlsoReadsWhatAnOpenMapDoesNot) {
  const auto map = must_open(disk);
  for (const std::string& name : names()) {
    if (name != "CURRENT" && !name.starts_with("MANIFEST")) continue;
    ASSERT_TRUE(disk.flip_bit(path_of(name), 3, 0));
    const auto verified = map->verify();
    ASSERT_FALSE(verified);
    EXPECT_NE(verified.error().detail().find(name), std::string::npos);
    ASSERT_TRUE(disk.flip_bit(path_of(name), 3, 0));
    EXPECT_TRUE(map->verify());
  }
}

TEST_F(KvDamage, AMissingFileIsDamage) {
  for (const std::string& name : names()) {
    if (name == "LOCK" || name == "IDENTITY") continue;
    const auto copy = disk.fork();
    ASSERT_TRUE(copy->remove(path_of(name)));
    const auto opened = Kv::open(*copy, kFolder, kQuiet);
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code(), Errc::corrupt) << opened.error().message();
    const auto left = copy->list(kFolder).value();
    const auto is_table = [](const std::string& file) { return file.ends_with(".sst"); };
    EXPECT_EQ(std::ranges::count_if(left, is_table), 3 - (is_table(name) ? 1 : 0))
        << "an open that fails removes no data";
  }
}

TEST_F(KvDamage, AShortenedFileIsDamage) {
  for (const std::string& name : names()) {
    if (name == "LOCK" || name == "IDENTITY") continue;
    for (const std::uint64_t missing : {std::uint64_t{1}, kEndBytes, size_of(name)}) {
      const auto copy = disk.fork();
      const std::uint64_t size = size_of(name) - std::min(missing, size_of(name));
      ASSERT_TRUE(copy->open(path_of(name), io::OpenMode::read_write).value()->truncate(size));
      const auto opened = Kv::open(*copy, kFolder, kQuiet);
      ASSERT_FALSE(opened) << name << " has " << size;
      EXPECT_EQ(opened.error().code(), Errc::corrupt) << opened.error().message();
    }
  }
}

struct FaultCase {
  const char* name;
  int posix_errno;
  bool and_after;
};

class KvFault : public KvWorld, public ::testing::WithParamInterface<FaultCase> {
 protected:
  // Arms the nth call of a kind from now on.
  void arm(sim::SimDisk& target, DiskCall call, std::uint64_t nth) const {
    target.faults().add({.call = call,
                         .posix_errno = GetParam().posix_errno,
                         .nth = nth,
                         .and_after = GetParam().and_after});
  }

  bool is_expected(const Error& error) const {
    return error.code() == (GetParam().posix_errno == ENOSPC ? Errc::no_space : Errc::io);
  }

  // Calls try_one(disk, call, nth) for n = 1, 2, … of each kind, while the fault was met.
  template <class TryOne>
  void for_each_call(const sim::SimDisk& start, TryOne try_one) {
    for (std::size_t i = 0; i < sim::kDiskCallNames.size(); ++i) {
      const auto call = static_cast<DiskCall>(i);
      for (std::uint64_t nth = 1;; ++nth) {
        SCOPED_TRACE(fmt::format("{} number {}", sim::name_of(call), nth));
        const auto copy = start.fork();
        const std::uint64_t calls = try_one(*copy, call, nth);
        if (HasFailure() || calls < nth) break;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, KvFault,
                         ::testing::Values(FaultCase{"OneEio", EIO, false},
                                           FaultCase{"EioFromThenOn", EIO, true},
                                           FaultCase{"OneEnospc", ENOSPC, false},
                                           FaultCase{"EnospcFromThenOn", ENOSPC, true}),
                         [](const auto& test) { return test.param.name; });

TEST_P(KvFault, InOpenIsAnErrorOrHarmless) {
  write_and_flush(*must_open(disk), 1, 4);
  write_and_flush(*must_open(disk), 5, 6);
  for_each_call(disk, [&](sim::SimDisk& copy, DiskCall call, std::uint64_t nth) {
    arm(copy, call, nth);
    const std::uint64_t before = copy.calls(call);
    if (const auto map = Kv::open(copy, kFolder, kQuiet); !map) {
      EXPECT_TRUE(is_expected(map.error())) << map.error().message();
    }
    const std::uint64_t calls = copy.calls(call) - before;
    copy.faults().clear();
    copy.crash(CrashMode::drop_unsynced);
    EXPECT_EQ(batches_in(*must_open(copy)), 6);
    return calls;
  });
}

TEST_P(KvFault, InTheFirstOpenIsAnErrorOrHarmless) {
  for_each_call(disk, [&](sim::SimDisk& copy, DiskCall call, std::uint64_t nth) {
    arm(copy, call, nth);
    const std::uint64_t before = copy.calls(call);
    if (const auto map = Kv::open(copy, kFolder, kQuiet); !map) {
      EXPECT_TRUE(is_expected(map.error())) << map.error().message();
    }
    const std::uint64_t calls = copy.calls(call) - before;
    copy.faults().clear();
    write_and_flush(*must_open(copy), 1, 2);
    copy.crash(CrashMode::drop_unsynced);
    EXPECT_EQ(batches_in(*must_open(copy)), 2);
    return calls;
  });
}

TEST_P(KvFault, InFlushEndsTheWritingAndLosesNothingFlushed) {
  write_and_flush(*must_open(disk), 1, 4);
  for_each_call(disk, [&](sim::SimDisk& copy, DiskCall call, std::uint64_t nth) {
    auto map = must_open(copy);
    EXPECT_TRUE(write_batch(*map, 5));
    arm(copy, call, nth);
    const std::uint64_t before = copy.calls(call);
    const Status flushed = map->flush();
    const std::uint64_t calls = copy.calls(call) - before;
    copy.faults().clear();
    if (!flushed) {
      EXPECT_TRUE(is_expected(flushed.error())) << flushed.error().message();
      EXPECT_EQ(batches_in(*map), 5) << "it is still there to be read";
      EXPECT_FALSE(write_batch(*map, 6));
      EXPECT_FALSE(map->flush()) << "a failed flush is not tried again";
    } else {
      EXPECT_TRUE(write_batch(*map, 6));
    }
    copy.crash(CrashMode::drop_unsynced);
    map.reset();
    map = must_open(copy);
    EXPECT_GE(batches_in(*map), flushed ? 5 : 4);
    write_and_flush(*map, batches_in(*map) + 1, 7);
    EXPECT_EQ(batches_in(*must_open(*copy.fork())), 7);
    return calls;
  });
}

TEST_P(KvFault, InFlushAndClosedWithoutACrashLosesNothingFlushed) {
  write_and_flush(*must_open(disk), 1, 4);
  for_each_call(disk, [&](sim::SimDisk& copy, DiskCall call, std::uint64_t nth) {
    auto map = must_open(copy);
    EXPECT_TRUE(write_batch(*map, 5));
    arm(copy, call, nth);
    const std::uint64_t before = copy.calls(call);
    const Status flushed = map->flush();
    const std::uint64_t calls = copy.calls(call) - before;
    map.reset();
    copy.faults().clear();
    EXPECT_GE(batches_in(*must_open(copy)), flushed ? 5 : 4);
    return calls;
  });
}

TEST_P(KvFault, InMergesLosesNothingFlushed) {
  auto first = must_open(disk);
  write_and_flush(*first, 1, 3);
  write_and_flush(*first, 4, 6);
  first.reset();
  for_each_call(disk, [&](sim::SimDisk& copy, DiskCall call, std::uint64_t nth) {
    auto map = must_open(copy);
    arm(copy, call, nth);
    const std::uint64_t before = copy.calls(call);
    const Status merged = map->compact();
    const std::uint64_t calls = copy.calls(call) - before;
    if (!merged) {
      EXPECT_TRUE(is_expected(merged.error())) << merged.error().message();
    }
    copy.faults().clear();
    EXPECT_EQ(batches_in(*map), 6);
    copy.crash(CrashMode::drop_unsynced);
    map.reset();
    EXPECT_EQ(batches_in(*must_open(copy)), 6);
    return calls;
  });
}

TEST_P(KvFault, InReadsIsAnErrorAndNotAnAnswer) {
  write_and_flush(*must_open(disk), 1, 4);
  const Content truth = content_after(4);
  for_each_call(disk, [&](sim::SimDisk& copy, DiskCall call, std::uint64_t nth) {
    const auto map = must_open(copy);
    arm(copy, call, nth);
    const std::uint64_t before = copy.calls(call);
    const auto found = map->get("z last");
    if (found) {
      EXPECT_EQ(*found, "4");
    } else {
      EXPECT_TRUE(is_expected(found.error())) << found.error().message();
    }
    if (const auto content = read_all(*map)) {
      EXPECT_EQ(*content, truth);
    }
    const std::uint64_t calls = copy.calls(call) - before;
    copy.faults().clear();
    EXPECT_EQ(batches_in(*map), 4) << "a failed read is not remembered";
    return calls;
  });
}

TEST_F(KvDamage, AWriteThatTheDiskLostIsDamageAndNotAnOlderMap) {
  for (std::uint64_t nth = 1; nth <= 3; ++nth) {
    const auto copy = disk.fork();
    auto map = must_open(*copy);
    ASSERT_TRUE(write_batch(*map, kFlushed + 1));
    copy->faults().add({.call = DiskCall::write, .effect = sim::FaultEffect::lose, .nth = nth});
    const bool flushed = map->flush().has_value();
    map.reset();
    const auto again = Kv::open(*copy, kFolder, kQuiet);
    if (again && flushed) {
      EXPECT_EQ((*again)->get("z last").value(), std::to_string(kFlushed + 1));
    }
    if (!again) {
      EXPECT_EQ(again.error().code(), Errc::corrupt) << again.error().message();
    }
  }
}

}  // namespace
}  // namespace leat::kv
