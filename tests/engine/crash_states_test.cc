// Every crash of a recorded workload: the disk after each of its changes, with every kind of loss,
// is recovered and must be in a state that the model allows at that point.
//
//   LEAT_CRASH_STATES=1 LEAT_CRASH_SEED=<seed> leat_crash_states_test      one workload again
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "engine/generator.h"
#include "engine/test_environment.h"

namespace leat::model {
namespace {

constexpr std::uint64_t kOperations = 60;
// Workloads are shared out between this many tests, and so between processes.
constexpr std::uint64_t kShares = 2;

constexpr std::array<sim::CrashOptions, 7> kLosses = {{
    {.mode = sim::CrashMode::keep_all},
    {.mode = sim::CrashMode::keep_random_subset},
    {.mode = sim::CrashMode::keep_random_subset},
    {.mode = sim::CrashMode::torn, .tear_bytes = 512},
    {.mode = sim::CrashMode::torn, .tear_bytes = 512, .garbage = true},
    {.mode = sim::CrashMode::torn, .tear_bytes = 4096},
    {.mode = sim::CrashMode::torn, .tear_bytes = 4096, .garbage = true},
}};

// One workload, recorded, and the disks that a crash in it may leave.
class Recording {
 public:
  Recording(std::uint64_t seed, log::Logger& logger)
      : rng_(seed),
        options_(Generator::options(rng_)),
        store_(rng_.next(), logger, options_, /*keeps_history=*/true),
        generate_(store_, rng_),
        judge_(seed, logger, options_) {}

  // Operations one by one and several at once, with everything the engine does beside.
  void record() {
    store_.open();
    for (std::uint32_t id = 1; id <= 3; ++id)
      run(generate_.put_bucket(record::BucketId(id)));
    for (std::uint64_t i = 0; i < kOperations && !store_.has_failed(); ++i) {
      if (rng_.chance(1, 5)) {
        store_.start(static_cast<Chore>(rng_.below(5)));
        store_.run_all();
      } else if (rng_.chance(1, 4)) {
        i += burst();
      } else if (auto operation = generate_.operation()) {
        run(std::move(*operation));
      }
    }
    store_.world().world().run_until_idle();
  }

  // Gives the number of states looked at; stops at the first that is wrong.
  std::uint64_t try_all() {
    const std::vector<sim::Operation>& log = store_.world().disk().log();
    const auto walker = store_.world().disk().replay_prefix(0);
    for (std::size_t done = 0; done <= log.size() && !store_.has_failed(); ++done) {
      const bool is_last = done == log.size();
      const bool makes_durable = is_last || log[done].call == sim::DiskCall::sync ||
                                 log[done].call == sim::DiskCall::sync_directory;
      // What is durable changes by syncs alone: before each the most is acknowledged.
      if (makes_durable) try_one(*walker, done, {.mode = sim::CrashMode::drop_unsynced});
      if (!walker->unsynced().empty()) {
        for (const sim::CrashOptions& loss : kLosses)
          try_one(*walker, done, loss);
      }
      if (!is_last) walker->apply(log[done]);
    }
    return states_;
  }

  std::string report() const {
    if (!store_.has_failed()) return {};
    std::string text = fmt::format("{}\n  {}\n  options: {}\n  workload:\n", store_.failure(),
                                   crash_, Generator::describe_options(options_));
    for (const std::string& note : store_.notes())
      text += "  " + note + "\n";
    return text;
  }

 private:
  void run(Operation operation) {
    store_.start(std::move(operation));
    store_.run_all();
  }

  std::uint64_t burst() {
    const std::uint64_t count = 2 + rng_.below(5);
    store_.note(fmt::format("{} at once:", count));
    for (std::uint64_t i = 0; i < count; ++i) {
      auto operation = generate_.operation();
      if (!operation || operation->kind == Kind::restore) continue;
      if (store_.running_on(operation->object) < 2) store_.start(std::move(*operation));
    }
    if (rng_.chance(1, 4)) store_.start(Chore::compact);
    if (rng_.chance(1, 4)) store_.start(Chore::checkpoint);
    store_.run_all();
    store_.verify();
    return count;
  }

  void try_one(const sim::SimDisk& disk, std::size_t done, const sim::CrashOptions& loss) {
    if (store_.has_failed()) return;
    crash_ = fmt::format("crash after {} changes of the disk, loss {} tear {} garbage {}", done,
                         static_cast<int>(loss.mode), loss.tear_bytes, loss.garbage);
    auto left = disk.fork();
    left->crash_with(sim::make_chooser(loss, rng_));
    judge(std::move(left), done);
    if (rng_.chance(1, 20)) try_second(done);
  }

  // The power goes again while, or after, the disk is recovered.
  void try_second(std::size_t done) {
    if (store_.has_failed()) return;
    const std::size_t calls = judge_.disk().log().size();
    const std::size_t prefix = rng_.below(calls + 1);
    const sim::CrashOptions loss = generate_.crash();
    crash_ += fmt::format("; again after {} of {} changes of the recovery, loss {}", prefix, calls,
                          static_cast<int>(loss.mode));
    auto left = judge_.disk().replay_prefix(prefix);
    left->crash_with(sim::make_chooser(loss, rng_));
    judge(std::move(left), done);
  }

  void judge(std::unique_ptr<sim::SimDisk> left, std::size_t done) {
    ++states_;
    left->start_log();
    judge_.take_disk(std::move(left));
    store_.judge_past(judge_, done);
  }

  io::SeededRng rng_;
  const volume::VolumeOptions options_;
  ModelledStore store_;
  Generator generate_;
  test::VolumeWorld judge_;
  std::string crash_;
  std::uint64_t states_ = 0;
};

class CrashStates : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CrashStates, EveryOneIsRecoveredToAStateThatIsAllowed) {
  const std::uint64_t wanted = number_from_env("LEAT_CRASH_STATES", 110'000) / kShares;
  const std::uint64_t first = number_from_env("LEAT_CRASH_SEED", 1);
  TestEnvironment environment;
  std::uint64_t states = 0;
  for (std::uint64_t seed = first + GetParam(); states <= wanted; seed += kShares) {
    Recording recording(seed, environment.logger());
    recording.record();
    states += recording.try_all();
    ASSERT_EQ(recording.report(), "")
        << "run this workload again: LEAT_CRASH_STATES=1 LEAT_CRASH_SEED=" << seed
        << " leat_crash_states_test --gtest_filter='*/0'";
  }
  fmt::print("{} crash states\n", states);
}

INSTANTIATE_TEST_SUITE_P(Share, CrashStates, ::testing::Range<std::uint64_t>(0, kShares));

}  // namespace
}  // namespace leat::model
