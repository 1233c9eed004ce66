// A process that changes control.db is killed at random moments; what it had been answered is
// there.
//
// The program is both: called with --write FOLDER it is the process that writes, one numbered
// transaction after another, and says each number when the store has answered it.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "control/sqlite_store.h"
#include "io/rng.h"
#include "support/run_task.h"
#include "support/temp_folder.h"

namespace leat::control {
namespace {

constexpr Duration kPatience = std::chrono::seconds(30);
constexpr int kKeys = 5;

// A store as a node has it.
struct Node {
  Status open(const std::string& folder, bool check) {
    SqliteTools tools{.shard = shard, .pool = pool, .disk = disk, .clock = clock};
    SqliteOptions options{.history = {.revisions_max = 50}, .check = check};
    LEAT_TRY(store, SqliteStore::open(tools, folder, options));
    return {};
  }
  template <class T>
  Result<T> run(rt::Task<T> task) {
    return testing::run_task(shard, std::move(task));
  }

  rt::Shard shard{rt::ShardId(0)};
  io::PosixDisk disk;
  io::RealClock clock;
  std::unique_ptr<SqliteStore> store;
  rt::BlockingPool pool{"control", 1, 64};
};

std::string key_of(int index) {
  return fmt::format("key/{}", index);
}

// Every key gets the number; with every third one a key comes, with the next one it goes.
Txn numbered(int number) {
  Txn txn;
  for (int i = 0; i < kKeys; ++i) {
    const std::string value = fmt::format("{:0{}}", number, 100 * (i + 1));
    txn.then.push_back({.kind = Operation::Kind::put, .key = key_of(i), .value = value});
  }
  if (number % 3 == 0) txn.then.push_back({.kind = Operation::Kind::put, .key = "now and then"});
  if (number % 3 == 1) txn.then.push_back({.kind = Operation::Kind::erase, .key = "now and then"});
  return txn;
}

// The number that the file stands at, having seen that no transaction is there by half.
int number_in(const std::string& folder) {
  Node node;
  const Status opened = node.open(folder, /*check=*/true);
  EXPECT_TRUE(opened.has_value()) << opened.error().message();
  if (!opened) return -1;
  const auto listing = node.run(node.store->list("", ReadLevel::linearizable));
  EXPECT_TRUE(node.run(node.store->stop()));
  if (!listing || listing->entries.empty()) return 0;
  const int number = std::stoi(listing->entries.front().value);
  EXPECT_EQ(listing->entries.size(), static_cast<std::size_t>(kKeys + (number % 3 == 0 ? 1 : 0)));
  for (int i = 0; i < kKeys; ++i) {
    const KeyValue& entry = listing->entries[static_cast<std::size_t>(i)];
    EXPECT_EQ(std::stoi(entry.value), number) << entry.key;
    EXPECT_EQ(entry.modified, listing->revision) << entry.key;
    EXPECT_EQ(entry.version, number) << entry.key;
  }
  return number;
}

int write_until_killed(const std::string& folder, int number) {
  Node node;
  if (!node.open(folder, /*check=*/false)) return 1;
  for (;;) {
    const auto reply = node.run(node.store->attempt(numbered(++number), kPatience));
    if (!reply) return 1;
    const std::string line = fmt::format("{}\n", number);
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0) return 1;
  }
}

// Starts the writer, kills it after it has said `lines` numbers, and gives the last one it said.
int last_answered(const std::string& folder, int from, int lines) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    const std::string start = std::to_string(from);
    execl("/proc/self/exe", "control_kill_test", "--write", folder.c_str(), start.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string said;
  char byte = 0;
  while (read(ends[0], &byte, 1) == 1) {
    said += byte;
    if (byte == '\n' && --lines == 0) kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << status;
  // The last line may be cut; the one before is whole.
  const std::size_t end = said.rfind('\n');
  if (end == std::string::npos) return from;
  const std::size_t begin = said.rfind('\n', end - 1);
  return std::stoi(said.substr(begin == std::string::npos ? 0 : begin + 1));
}

TEST(ControlKill, WhatWasAnsweredIsThereAfterAnyKillAndNothingIsThereByHalf) {
  constexpr int kRounds = 30;
  const testing::TempFolder folder;
  io::SeededRng rng(5);
  int number = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    const int lines = 1 + static_cast<int>(rng.below(60));
    const int answered = last_answered(folder.path(), number, lines);
    number = number_in(folder.path());
    ASSERT_GE(number, answered);
    ASSERT_LE(number, answered + 1) << "one at most was on its way";
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(number, kRounds);
}

}  // namespace
}  // namespace leat::control

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--write") {
    return leat::control::write_until_killed(argv[2], std::stoi(argv[3]));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
