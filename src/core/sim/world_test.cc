#include "sim/world.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leat::sim {
namespace {

using namespace std::chrono_literals;
using io::OpenMode;
using StreamPtr = std::unique_ptr<io::Stream>;

rt::Task<void> echo_stream(StreamPtr stream) {
  std::vector<std::byte> buffer(4096);
  while (true) {
    LEAT_CO_TRY(const std::size_t count, co_await io::read_some(*stream, buffer));
    if (count == 0) break;
    Bytes piece = Bytes(buffer).first(count);
    LEAT_CO_DO(co_await io::write_all(*stream, std::span(&piece, 1)));
  }
  stream->finish_writing();
  co_return Status{};
}

rt::Task<void> serve_echo(SimWorld& world, io::Listener& listener) {
  while (true) {
    LEAT_CO_TRY(StreamPtr stream, co_await listener.accept());
    world.spawn(echo_stream(std::move(stream)), [](const Status&) {});
  }
}

rt::Task<void> send(io::Stream& stream, std::string_view text) {
  Bytes piece = as_bytes(text);
  LEAT_CO_DO(co_await io::write_all(stream, std::span(&piece, 1)));
  stream.finish_writing();
  co_return Status{};
}

// Sends `text` while reading the answer, as a full pipe needs.
rt::Task<std::string> ask_echo(SimWorld& world, std::string_view text) {
  io::Address address{"server", 7};
  LEAT_CO_TRY(StreamPtr stream, co_await world.network("client").connect(std::move(address)));
  world.spawn(send(*stream, text), [](const Status& status) { EXPECT_TRUE(status); });
  std::string answer;
  std::vector<std::byte> buffer(1000);
  while (true) {
    LEAT_CO_TRY(const std::size_t count, co_await io::read_some(*stream, buffer));
    if (count == 0) co_return answer;
    answer += as_text(Bytes(buffer).first(count));
  }
}

std::string random_text(io::Rng& rng) {
  std::string text(rng.below(50000), '?');
  rng.fill(std::as_writable_bytes(std::span(text)));
  return text;
}

WorldOptions random_options(std::uint64_t seed) {
  io::SeededRng rng(seed);
  WorldOptions options;
  options.network.latency = Duration(rng.below(1'000'000));
  options.network.jitter = Duration(rng.below(10'000'000));
  options.network.buffer_bytes = 1 + rng.below(10000);
  options.network.short_percent = rng.below(101);
  return options;
}

TEST(SimWorld, AnEchoComesBackWholeWhateverTheNetworkDoesInBetween) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimWorld world(seed, random_options(seed));
    auto listener = world.network("server").listen({"server", 7}).value();
    world.spawn(serve_echo(world, *listener), [](const Status&) {});
    for (int round = 0; round < 2; ++round) {
      const std::string text = random_text(world.rng());
      const Result<std::string> answer = world.run(ask_echo(world, text));
      ASSERT_TRUE(answer) << answer.error().message() << "\n" << world.describe();
      ASSERT_TRUE(*answer == text) << world.describe();
    }
  }
}

rt::Task<void> store_and_fetch(SimWorld& world, std::string_view text) {
  LEAT_CO_TRY(auto file, world.disk("client").open("/f", OpenMode::create));
  SimFileIo& files = world.file_io("client");
  LEAT_CO_DO(co_await files.write_at(*file, 0, as_bytes(text)));
  LEAT_CO_DO(co_await files.sync_data(*file));
  LEAT_CO_TRY(const std::string answer, co_await ask_echo(world, text));
  LEAT_CO_DO(co_await files.write_at(*file, answer.size(), as_bytes(answer)));
  co_return Status{};
}

// A history with a network, disks, faults and a crash in it.
std::uint64_t trace_of(std::uint64_t seed) {
  WorldOptions options;
  options.network.short_percent = 30;
  SimWorld world(seed, options);
  auto listener = world.network("server").listen({"server", 7}).value();
  world.spawn(serve_echo(world, *listener), [](const Status&) {});
  world.disk("client").faults().add({.call = DiskCall::write, .percent = 30});
  for (int round = 0; round < 5; ++round) {
    const Status done = world.run(store_and_fetch(world, random_text(world.rng())));
    EXPECT_TRUE(done || done.error().code() == Errc::io);
    world.disk("client").crash(CrashMode::torn);
  }
  return world.timeline().trace().hash();
}

TEST(SimWorld, TheSameSeedGivesTheSameHistoryAndAnotherSeedAnother) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(trace_of(seed), trace_of(seed)) << seed;
    EXPECT_NE(trace_of(seed), trace_of(seed + 1)) << seed;
  }
}

rt::Task<void> sleep_forever(io::Clock& clock) {
  while (true) {
    const Instant next = clock.now() + 1s;
    LEAT_CO_DO(co_await clock.sleep_until(next));
  }
}

TEST(SimWorld, RunningEndsAtItsLimit) {
  SimWorld world(1);
  world.spawn(sleep_forever(world.clock("a")), [](const Status&) {});
  const Instant start = world.now();
  EXPECT_FALSE(world.run_until_idle(10s));
  EXPECT_EQ(world.now(), start + 10s);
  EXPECT_FALSE(world.run_until([] { return false; }, 5s));
  EXPECT_TRUE(world.run_until([&] { return world.now() >= start + 20s; }, 60s));
  world.run_for(1500ms);
  EXPECT_EQ(world.now(), start + 21500ms);
  EXPECT_EQ(world.run(sleep_forever(world.clock("a")), 3s).error().code(), Errc::timeout);
}

// Run under the address sanitizer, this finds tasks that outlive what they hold.
TEST(SimWorld, EndsCleanlyWhileTasksStillWait) {
  auto world = std::make_unique<SimWorld>(3);
  auto listener = world->network("server").listen({"server", 7}).value();
  world->spawn(serve_echo(*world, *listener), [](const Status&) {});
  world->spawn(sleep_forever(world->clock("a")), [](const Status&) {});
  const std::string text(100000, 'x');
  EXPECT_EQ(world->run(ask_echo(*world, text), 300us).error().code(), Errc::timeout);
  world->spawn(sleep_forever(world->clock("b")), [](const Status&) {});
  listener.reset();
  world.reset();
}

TEST(SimWorld, DescribesItselfWithSeedOptionsAndLastEvents) {
  SimWorld world(4711);
  EXPECT_TRUE(world.disk("a").make_directories("/some/folder"));
  const std::string text = world.describe();
  EXPECT_NE(text.find("seed 4711"), std::string::npos) << text;
  EXPECT_NE(text.find("buffer 65536 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("make_directories a:/some/folder"), std::string::npos) << text;
}

rt::Task<void> write_and_sync(io::FileIo& files, io::File& file, std::string_view text) {
  LEAT_CO_DO(co_await files.write_at(file, 0, as_bytes(text)));
  co_return co_await files.sync_data(file);
}

TEST(SimFileIo, CallsTakeTheirLatencyAndTheDelaysOfFaults) {
  WorldOptions options;
  options.files = {.read = 1ms, .write = 2ms, .sync = 30ms, .jitter = 0ms};
  SimWorld world(1, options);
  SimDisk& disk = world.disk("a");
  auto file = disk.open("/f", OpenMode::create).value();
  disk.faults().add({.call = DiskCall::sync, .effect = FaultEffect::delay, .delay = 5s, .nth = 1});
  const Instant start = world.now();
  EXPECT_TRUE(world.run(write_and_sync(world.file_io("a"), *file, "text")));
  EXPECT_EQ(world.now() - start, 5s + 32ms);
  std::array<std::byte, 10> buffer{};
  EXPECT_EQ(world.run(world.file_io("a").read_at(*file, 0, buffer)).value(), 4U);
  EXPECT_EQ(world.now() - start, 5s + 33ms);
}

TEST(SimFileIo, ACrashInTheMiddleFailsTheCallAndStoresNothing) {
  SimWorld world(1);
  SimDisk& disk = world.disk("a");
  auto file = disk.open("/f", OpenMode::create).value();
  EXPECT_TRUE(disk.sync_directory("/"));
  world.timeline().at(world.now() + 10us, [&disk] { disk.crash(CrashMode::keep_all); });
  const Status done = world.run(write_and_sync(world.file_io("a"), *file, "text"));
  EXPECT_EQ(done.error().code(), Errc::io);
  EXPECT_EQ(disk.info("/f").value().size_bytes, 0U);
}

TEST(SimFileIo, ShortWritesOfTheDiskAreContinued) {
  SimWorld world(1);
  world.disk("a").faults().add(
      {.call = DiskCall::write, .effect = FaultEffect::shorten, .percent = 100});
  auto file = world.disk("a").open("/f", OpenMode::create).value();
  EXPECT_TRUE(world.run(world.file_io("a").write_at(*file, 0, as_bytes("all of it"))));
  EXPECT_EQ(file->info().value().size_bytes, 9U);
}

}  // namespace
}  // namespace leat::sim
