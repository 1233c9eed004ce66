// SimWorld: hosts with disks, clocks and a network, in one thread, on virtual time.
//
// The world owns a shard and drives it by hand. When no task can go on, time jumps to the next
// event: a day of waiting costs nothing, and the same seed gives the same history, event for event.
// Chance for each part is derived from the seed and the part's name, so that adding a host does not
// disturb others.
//
//   SimWorld world(seed);
//   SCOPED_TRACE(world.describe());
//   auto answer = world.run(fetch(world.network("client"), world.clock("client")));
//
// Thread: the one that made it. Lifetime: outlives all files, listeners and streams that tests
// hold; tasks that still wait when the world ends are destroyed with it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "io/rng.h"
#include "rt/shard.h"
#include "sim/sim_disk.h"
#include "sim/sim_file_io.h"
#include "sim/sim_network.h"

namespace leat::sim {

struct WorldOptions {
  NetworkOptions network;
  FileIoOptions files;
};

class SimWorld {
 public:
  static constexpr Duration kPatience = std::chrono::hours(24);

  explicit SimWorld(std::uint64_t seed, WorldOptions options = {});
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;
  ~SimWorld();

  // Made on first use. References stay good as long as the world.
  SimClock& clock(const std::string& host) { return host_of(host).clock; }
  SimDisk& disk(const std::string& host) { return host_of(host).disk; }
  SimFileIo& file_io(const std::string& host) { return host_of(host).file_io; }
  SimNetwork& network(const std::string& host) { return host_of(host).network; }
  SimFabric& fabric() { return fabric_; }

  // For the test's own choices.
  io::SeededRng& rng() { return rng_; }
  Instant now() const { return timeline_.now(); }
  Timeline& timeline() { return timeline_; }
  rt::Shard& shard() { return shard_; }

  void spawn(rt::Task<void> task, std::move_only_function<void(Status)> done) {
    shard_.spawn(std::move(task), std::move(done));
  }

  // Until no task can go on and no event is left; false if `limit` was not enough.
  bool run_until_idle(Duration limit = kPatience);

  // Exactly this long, whatever happens in it.
  void run_for(Duration duration);

  // Until `done()`, asked after every step; false if all is idle or `limit` has passed before.
  bool run_until(const std::function<bool()>& done, Duration limit = kPatience);

  // Runs one task to its end. Errors: timeout, if `limit` was not enough; the task's own.
  template <class T>
  Result<T> run(rt::Task<T> task, Duration limit = kPatience);

  // Seed, options, time, and the last events: what a failing test prints to be run again.
  std::string describe() const;

 private:
  struct Host {
    Host(SimWorld& world, const std::string& name);
    SimClock clock;
    SimDisk disk;
    SimFileIo file_io;
    SimNetwork network;
  };

  Host& host_of(const std::string& name);
  std::uint64_t seed_for(const std::string& part) const;

  // One handler, or one event no later than `limit`; false if there is neither.
  bool step(Instant limit);

  template <class T>
  static rt::Task<void> keep_result(rt::Task<T> task, std::shared_ptr<std::optional<Result<T>>> to);

  const std::uint64_t seed_;
  const WorldOptions options_;
  io::SeededRng rng_;
  Timeline timeline_;
  SimFabric fabric_;
  std::map<std::string, std::unique_ptr<Host>> hosts_;
  // Last, so that it goes first: tasks left in its queue may own what the others made.
  rt::Shard shard_{rt::ShardId(0)};
};

template <class T>
rt::Task<void> SimWorld::keep_result(rt::Task<T> task,
                                     std::shared_ptr<std::optional<Result<T>>> to) {
  *to = co_await std::move(task);
  co_return Status{};
}

template <class T>
Result<T> SimWorld::run(rt::Task<T> task, Duration limit) {
  auto result = std::make_shared<std::optional<Result<T>>>();
  spawn(keep_result<T>(std::move(task), result), [](const Status&) {});
  if (!run_until([&result] { return result->has_value(); }, limit)) {
    return fail(Errc::timeout, "the task has not ended");
  }
  return std::move(**result);
}

}  // namespace leat::sim
