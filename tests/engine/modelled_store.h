// ModelledStore: a volume on a simulated disk and the model of it, fed with the same operations.
//
// start() sends an operation to the store and notes the answer in the model when it comes; an
// answer that the model does not allow is a failure, kept as text. A reboot of any kind ends what
// is running and asks which of the allowed states each key is in.
//
// Thread: one. The first failure stays; what follows it means nothing.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/audit.h"
#include "engine/model.h"
#include "support/volume_world.h"

namespace leat::model {

enum class Chore : std::uint8_t { reclaim, compact, collect_orphans, checkpoint, sync };

// What a crash leaves to the next process.
enum class Ending : std::uint8_t { clean, rebuild, kill, power_cut };

class ModelledStore {
 public:
  ModelledStore(std::uint64_t seed, log::Logger& logger, const volume::VolumeOptions& options,
                bool keeps_history = false);

  // Opens the disk for the first time.
  void open();

  // Sends it; run_all() waits for the answers.
  void start(Operation operation);
  void start(Chore chore);
  void run_all();
  bool is_idle() const { return running_.empty(); }
  // An operation on the key, or a reclaim that will touch it, is under way.
  std::size_t running_on(const record::ObjectKey& object) const;

  // Ends the process and starts the next one.
  void reboot(Ending ending, sim::CrashOptions crash);

  // Everything is as the model says: entries, counters, bytes.
  void verify();
  void verify_bytes();
  // One key by the reader, a range of it; one listing page by page.
  void get(const record::ObjectKey& object, io::Rng& rng);
  void list(index::ListRequest request);

  // From now on calls may fail as a broken or full disk makes them fail.
  void expect_faults() { faulty_ = true; }
  // The disk is whole again: if it did not fail meanwhile, everything must work.
  void expect_no_faults();
  // Bits were turned over: reading gives what is right or corrupt.
  void verify_damaged();
  // Ends the process and opens the damaged disk again, which may say that it is corrupt.
  void reopen_damaged(Ending ending);

  // For a disk as it may be after a crash at a position of the history: opens it in `world` and
  // judges it. Lifetime: the history is this store's; `world` has this store's options.
  void judge_past(test::VolumeWorld& world, std::uint64_t position);

  test::VolumeWorld& world() { return world_; }
  const History& history() const { return history_; }
  const State& last(const record::ObjectKey& object) const { return history_.last(object); }
  const record::Bucket* bucket(record::BucketId id) const;
  std::vector<std::string> keys_in(record::BucketId bucket) const;
  // Those with a current version or one that is kept.
  std::vector<std::string> histories_in(record::BucketId bucket) const;
  std::int64_t now_ms();
  bool has_failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }
  void fail_with(std::string what);
  // What was asked of it, for whoever reads a failure.
  void note(std::string what);
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Running {
    std::optional<Operation> operation{};
    Chore chore{};
    std::vector<Operation> purges{};  // of a reclaim
    std::uint64_t called = 0;
    std::uint64_t boot = 0;
    bool disk_had_failed = false;
  };
  using RunningPtr = std::shared_ptr<Running>;
  struct Candidate {
    State state{};
    std::uint64_t called = 0;
  };

  void list_histories(const index::ListRequest& request);
  rt::Task<void> perform(RunningPtr running);
  rt::Task<record::Version> call(const Operation& operation);
  rt::Task<record::Version> call_put(const Operation& operation);
  rt::Task<record::Version> call_revise(const Operation& operation);
  rt::Task<record::Version> call_part(const Operation& operation);
  rt::Task<record::Version> call_complete(const Operation& operation);
  rt::Task<void> call(Chore chore, std::int64_t now);
  void finish(const Running& running, const Result<record::Version>& answer);
  void finish(const Running& running, const Status& answer);
  void finish_failed(const Running& running, const Error& error);
  void add_step(const Operation& operation, State state, std::uint64_t called);
  bool is_excused(Errc code) const;

  std::uint64_t position();
  std::vector<Candidate> candidates(const record::ObjectKey& object) const;
  std::vector<Operation> unanswered(const record::ObjectKey& object) const;
  void end_process(Ending ending, sim::CrashOptions crash);
  void settle_all(const Holdings& holdings);
  void settle(const record::ObjectKey& object, const Seen& seen, std::uint64_t& survived);
  Result<Holdings> look(test::VolumeWorld& world);
  void verify_content(test::VolumeWorld& world, const record::Version& seen, const Version& known);
  void verify_state(test::VolumeWorld& world, const Seen& seen, const State& state);
  void verify_settled(const record::ObjectKey& object);

  test::VolumeWorld world_;
  History history_;
  const bool keeps_history_;
  std::uint64_t position_ = 0;
  std::uint64_t boot_ = 0;
  std::list<RunningPtr> running_;
  std::map<record::ObjectKey, std::vector<Candidate>> unsure_;
  std::vector<std::pair<Operation, std::uint64_t>> maybe_;  // failed with the disk
  struct Lost {
    record::ObjectKey object;
    std::uint64_t answered;
  };
  std::vector<Lost> lost_;
  bool faulty_ = false;
  std::string failure_;
  std::vector<std::string> notes_;
};

}  // namespace leat::model
