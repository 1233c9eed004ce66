#include "control/sqlite_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>

#include "control/sqlite_world_test.h"
#include "support/run_task.h"

namespace leat::control {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);

INSTANTIATE_TEST_SUITE_P(Sqlite, Conformance, ::testing::Values(MakeBackend([] {
                           return std::make_unique<SqliteWorld>();
                         })),
                         [](const auto&) { return "Folder"; });

Txn putting(std::string key, std::string value, LeaseId lease = {}) {
  Txn txn;
  txn.then.push_back(put_operation(std::move(key), std::move(value), lease));
  return txn;
}

class SqliteStoreTest : public ::testing::Test {
 protected:
  template <class T>
  Result<T> run(rt::Task<T> task) {
    return sqlite_.world().run(std::move(task));
  }
  Result<TxnReply> put(std::string key, std::string value, LeaseId lease = {}) {
    Txn txn = putting(std::move(key), std::move(value), lease);
    return run(sqlite_.store().attempt(std::move(txn), kPatience));
  }
  std::string value_of(std::string key) {
    const auto listing = run(sqlite_.store().list(std::move(key), ReadLevel::linearizable));
    if (!listing) return std::string(traits(listing.error().code()).name);
    return listing->entries.empty() ? "absent" : listing->entries.front().value;
  }
  void reopen() {
    sqlite_.close();
    sqlite_.options().check = true;
    const Status opened = sqlite_.open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
  }
  Errc refusal() {
    const Status opened = sqlite_.open();
    EXPECT_FALSE(opened.has_value());
    return opened ? Errc::internal : opened.error().code();
  }

  SqliteWorld sqlite_;
};

TEST_F(SqliteStoreTest, EverythingIsThereAfterARestart) {
  const auto first = put("a", "1");
  ASSERT_TRUE(first.has_value()) << first.error().message();
  ASSERT_TRUE(put("b", "2"));
  const auto before = run(sqlite_.store().list("", ReadLevel::linearizable));
  reopen();
  const auto after = run(sqlite_.store().list("", ReadLevel::linearizable));
  EXPECT_EQ(after->entries, before->entries);
  EXPECT_EQ(after->revision, before->revision);
  Seen seen;
  const auto watch = sqlite_.store().watch("", first->revision, seen.sink());
  ASSERT_TRUE(put("c", "3"));
  EXPECT_TRUE(sqlite_.run_until([&] { return seen.events.size() == 3; }));
  EXPECT_EQ(seen.text(), "+a=1 +b=2 +c=3");
}

TEST_F(SqliteStoreTest, ALeaseHasItsWholeTimeAgainAfterARestartAndItsNumberIsNotGivenTwice) {
  const auto lease = run(sqlite_.store().grant_lease(std::chrono::seconds(10)));
  const auto ended = run(sqlite_.store().grant_lease(std::chrono::seconds(10)));
  ASSERT_TRUE(put("pin", "1", lease->id));
  ASSERT_TRUE(run(sqlite_.store().revoke_lease(ended->id)));
  sqlite_.pass(std::chrono::seconds(9));
  reopen();
  const auto fresh = run(sqlite_.store().grant_lease(std::chrono::seconds(100)));
  EXPECT_GT(fresh->id, ended->id);
  sqlite_.pass(std::chrono::seconds(9));
  EXPECT_EQ(value_of("pin"), "1");
  sqlite_.pass(std::chrono::seconds(2));
  EXPECT_EQ(value_of("pin"), "absent");
  reopen();
  EXPECT_EQ(value_of("pin"), "absent");
}

TEST_F(SqliteStoreTest, NobodyButItsOwnerMayReadTheFile) {
  ASSERT_TRUE(put("a", "1"));
  struct stat found{};
  ASSERT_EQ(stat(sqlite_.path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  ASSERT_EQ(stat((sqlite_.path() + "-wal").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(SqliteStoreTest, AFileThatIsOpenIsNotOpenedAgain) {
  ASSERT_TRUE(put("a", "1"));
  const auto second = Tables::open(sqlite_.path(), {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), Errc::conflict);
  EXPECT_TRUE(put("a", "2"));
}

TEST_F(SqliteStoreTest, AFileOfANewerLeatIsRefusedAndNotChanged) {
  ASSERT_TRUE(put("a", "1"));
  sqlite_.close();
  ASSERT_TRUE(Database::open(sqlite_.path())->run("PRAGMA user_version = 2"));
  const std::string before = sqlite_.folder().read("control.db");
  EXPECT_EQ(refusal(), Errc::version_not_supported);
  EXPECT_EQ(sqlite_.folder().read("control.db"), before);
}

TEST_F(SqliteStoreTest, WhatIsNoControlStoreIsRefusedAndNotChanged) {
  sqlite_.folder().write("control.db", std::string(8192, 'x'));
  EXPECT_EQ(refusal(), Errc::corrupt);
  EXPECT_EQ(sqlite_.folder().read("control.db"), std::string(8192, 'x'));
  sqlite_.folder().write("control.db", "");
  ASSERT_TRUE(Database::open(sqlite_.path())->run("CREATE TABLE other (a)"));
  EXPECT_EQ(refusal(), Errc::corrupt);
}

TEST_F(SqliteStoreTest, HistoryIsBoundedByItsBytesToo) {
  sqlite_.options().history = {.revisions_max = 1000, .bytes_max = 10'000};
  const auto first = put("k", std::string(1000, 'x'));
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(put("k", std::string(1000, 'x')));
  Seen seen;
  Seen recent;
  const auto watch = sqlite_.store().watch("k", first->revision, seen.sink());
  const auto kept =
      sqlite_.store().watch("k", Revision(first->revision.value() + 15), recent.sink());
  EXPECT_TRUE(sqlite_.run_until([&] { return seen.broken && recent.events.size() == 6; }));
  EXPECT_EQ(seen.broken, Errc::compacted);
  ASSERT_TRUE(put("k", std::string(kValueMax, 'x'))) << "larger than all history may be";
  EXPECT_TRUE(sqlite_.run_until([&] { return recent.events.size() == 7; }));
  reopen();
}

TEST_F(SqliteStoreTest, ALeaseThatNobodyAsksAboutEndsByItself) {
  Seen seen;
  const auto lease = run(sqlite_.store().grant_lease(std::chrono::seconds(3)));
  ASSERT_TRUE(put("pin", "1", lease->id));
  const auto watch = sqlite_.store().watch("", Revision(), seen.sink());
  sqlite_.pass(std::chrono::seconds(3) + SqliteStore::kNap);
  EXPECT_EQ(seen.text(), "-pin");
}

TEST_F(SqliteStoreTest, StoppingBreaksTheWatchesAndRefusesCalls) {
  Seen seen;
  Seen late;
  auto watch = sqlite_.store().watch("", Revision(), seen.sink());
  ASSERT_TRUE(run(sqlite_.store().stop()));
  EXPECT_EQ(seen.broken, Errc::unavailable);
  const auto refused = put("a", "1");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  auto never = sqlite_.store().watch("", Revision(), late.sink());
  EXPECT_FALSE(late.broken) << "not from inside watch()";
  EXPECT_TRUE(sqlite_.run_until([&] { return late.broken.has_value(); }));
}

TEST_F(SqliteStoreTest, TooManyWatchesAreRefusedAndEndedOnesDoNotCount) {
  Seen seen;
  Seen refused;
  std::vector<std::unique_ptr<Watch>> watches;
  for (std::size_t i = 0; i < SqliteStore::kWatchesMax; ++i)
    watches.push_back(sqlite_.store().watch("", Revision(), seen.sink()));
  auto more = sqlite_.store().watch("", Revision(), refused.sink());
  EXPECT_TRUE(sqlite_.run_until([&] { return refused.broken.has_value(); }));
  EXPECT_EQ(refused.broken, Errc::busy);
  watches.clear();
  more = sqlite_.store().watch("", Revision(), seen.sink());
  ASSERT_TRUE(put("a", "1"));
  EXPECT_TRUE(sqlite_.run_until([&] { return !seen.events.empty(); }));
  EXPECT_EQ(seen.events.size(), 1U);
}

rt::Task<void> put_and_count(ControlStore& store, Duration timeout, std::map<Errc, int>* refused,
                             int* done) {
  Txn txn = putting("k", "v");
  auto trying = store.attempt(std::move(txn), timeout);
  const auto reply = co_await std::move(trying);
  if (!reply) ++(*refused)[reply.error().code()];
  ++*done;
  co_return Status{};
}

TEST_F(SqliteStoreTest, OnlySoManyWaitForTheirTurn) {
  constexpr int kCalls = static_cast<int>(SqliteStore::kWaitingMax) + 50;
  std::map<Errc, int> refused;
  int done = 0;
  for (int i = 0; i < kCalls; ++i)
    sqlite_.spawn(put_and_count(sqlite_.store(), kPatience, &refused, &done));
  EXPECT_TRUE(sqlite_.run_until([&] { return done == kCalls; }));
  EXPECT_EQ(refused, (std::map<Errc, int>{{Errc::busy, 49}})) << "one has its turn, the rest wait";
}

// A second goes by whenever somebody looks.
class HastyClock final : public io::Clock {
 public:
  Instant now() const override { return now_ += std::chrono::seconds(1); }
  WallTime wall_now() const override { return {}; }
  rt::Task<void> sleep_until(Instant /*when*/) override { return rt::yield(); }

 private:
  mutable Instant now_{std::chrono::hours(1)};
};

TEST(SqliteStorePatience, WhoseTurnComesTooLateIsNotApplied) {
  sim::SimWorld world(1);
  const testing::TempFolder folder;
  io::PosixDisk disk;
  HastyClock clock;
  rt::BlockingPool pool("sim", 0, 16);
  SqliteTools tools{.shard = world.shard(), .pool = pool, .disk = disk, .clock = clock};
  auto opened = SqliteStore::open(tools, folder.path(), {});
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  std::map<Errc, int> refused;
  int done = 0;
  for (int i = 0; i < 20; ++i) {
    world.spawn(put_and_count(**opened, std::chrono::seconds(10), &refused, &done),
                [](const Status&) {});
  }
  EXPECT_TRUE(world.run_until([&] { return done == 20; }));
  EXPECT_GT(refused[Errc::unavailable], 0);
  EXPECT_LT(refused[Errc::unavailable], 20);
  const auto listing = world.run((*opened)->list("k", ReadLevel::linearizable));
  EXPECT_EQ(listing->revision.value(), 20 - refused[Errc::unavailable]);
  EXPECT_TRUE(world.run((*opened)->stop()));
}

// Writes of SQLite that fail from the `from`th on. There is one process, so there is one of it.
struct FailingWrites {
  static inline int left = -1;  // -1: none fails
  static inline int error = 0;
  static inline sqlite3_syscall_ptr real = nullptr;

  static ssize_t write(int file, const void* data, std::size_t size, off64_t offset) {
    using Write = ssize_t (*)(int, const void*, std::size_t, off64_t);
    if (left > 0) --left;
    if (left != 0) return reinterpret_cast<Write>(real)(file, data, size, offset);
    errno = error;
    return -1;
  }

  FailingWrites() {
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    real = vfs->xGetSystemCall(vfs, "pwrite64");
    vfs->xSetSystemCall(vfs, "pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(&write));
  }
  FailingWrites(const FailingWrites&) = delete;
  FailingWrites& operator=(const FailingWrites&) = delete;
  ~FailingWrites() {
    left = -1;
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    vfs->xSetSystemCall(vfs, "pwrite64", nullptr);
  }
};

TEST_F(SqliteStoreTest, AFullDiskRefusesChangesAndEverythingGoesOnWhenThereIsRoom) {
  ASSERT_TRUE(put("k", "0"));
  const FailingWrites failing;
  FailingWrites::error = ENOSPC;
  int refused = 0;
  std::string last = "0";
  for (int at = 0; at < 20; ++at) {
    SCOPED_TRACE(at);
    FailingWrites::left = at;
    const std::string value = std::to_string(at);
    const auto reply = put("k", value);
    FailingWrites::left = -1;
    if (reply) last = value;
    if (!reply) {
      ++refused;
      if (reply.error().code() == Errc::outcome_unknown) {
        if (value_of("k") == value) last = value;
      } else {
        EXPECT_EQ(reply.error().code(), Errc::no_space) << reply.error().message();
        EXPECT_TRUE(reply.error().detail().contains("make room")) << reply.error().detail();
      }
    }
    ASSERT_EQ(value_of("k"), last);
  }
  EXPECT_GT(refused, 2);
  ASSERT_TRUE(put("k", "after"));
  reopen();
  EXPECT_EQ(value_of("k"), "after");
}

TEST_F(SqliteStoreTest, AfterAFailedCommitNothingIsSaidUntilTheFileIsOpenedAnew) {
  const FailingWrites failing;
  FailingWrites::error = EIO;
  int unknown = 0;
  const auto lease = run(sqlite_.store().grant_lease(std::chrono::hours(1)));
  for (int at = 0; at < 12; ++at) {
    SCOPED_TRACE(at);
    const std::string before = std::to_string(2 * at);
    const std::string wanted = std::to_string(2 * at + 1);
    ASSERT_TRUE(put("k", before));
    FailingWrites::left = at;
    const auto reply = put("k", wanted);
    FailingWrites::left = -1;
    if (!reply) {
      ++unknown;
      EXPECT_EQ(reply.error().code(), Errc::outcome_unknown) << reply.error().message();
      EXPECT_EQ(value_of("k"), "unavailable");
      const auto later = put("k", "later");
      ASSERT_FALSE(later.has_value());
      EXPECT_EQ(later.error().code(), Errc::unavailable);
      const auto renewed = run(sqlite_.store().renew_lease(lease->id));
      ASSERT_FALSE(renewed.has_value());
      EXPECT_EQ(renewed.error().code(), Errc::unavailable);
    }
    reopen();
    const std::string found = value_of("k");
    EXPECT_TRUE(found == wanted || (!reply && found == before)) << found;
  }
  EXPECT_GT(unknown, 2);
}

rt::Task<void> count(ControlStore& store, int times) {
  for (int done = 0; done < times;) {
    Txn read;
    read.then.push_back(get_operation("counter"));
    auto reading = store.attempt(std::move(read), kPatience);
    LEAT_CO_TRY(const TxnReply found, co_await std::move(reading));
    const auto& entry = found.reads.front();
    Txn write = putting("counter", std::to_string(entry ? std::stoi(entry->value) + 1 : 1));
    write.when.push_back({.key = "counter", .number = entry ? entry->modified.value() : 0});
    auto writing = store.attempt(std::move(write), kPatience);
    LEAT_CO_TRY(const TxnReply written, co_await std::move(writing));
    done += written.held ? 1 : 0;
  }
  co_return Status{};
}

// With threads and the machine's clock, as in a node.
TEST(SqliteStoreThreads, TasksOfAShardCountExactlyThroughAPoolOfThreads) {
  const testing::TempFolder folder;
  rt::Shard shard{rt::ShardId(0)};
  io::PosixDisk disk;
  io::RealClock clock;
  rt::BlockingPool pool("control", 2, 64);
  SqliteTools tools{.shard = shard, .pool = pool, .disk = disk, .clock = clock};
  auto opened = SqliteStore::open(tools, folder.path(), {});
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  SqliteStore& store = **opened;
  Seen seen;
  auto watch = store.watch("counter", Revision(), seen.sink());
  int running = 0;
  for (int i = 0; i < 8; ++i) {
    ++running;
    shard.spawn(count(store, 10), [&](const Status& done) {
      EXPECT_TRUE(done.has_value()) << done.error().message();
      --running;
    });
  }
  while (running > 0 || seen.events.size() < 80)
    shard.context().run_one();
  EXPECT_EQ(seen.events.back().entry.value, "80");
  EXPECT_TRUE(testing::run_task(shard, store.stop()));
  watch.reset();
}

}  // namespace
}  // namespace leat::control
