// Crew: workers on all shards, and the queue they take their jobs from.
//
// The queue is bounded: who plans faster than the crew works, waits. Workers of other shards ask
// for jobs and report by messages, so that nothing needs a lock.
//
//   Crew crew(members, {.workers = 32}, finished);
//   crew.start();
//   co_await crew.add(job);      as often as needed
//   co_await crew.finish();
//
// Shard: the first member's, which is home. Lifetime: finish() has returned before it is destroyed.
#pragma once

#include <functional>
#include <vector>

#include "rt/queue.h"
#include "transfer/group.h"
#include "transfer/job.h"

namespace leat::transfer {

struct CrewOptions {
  std::size_t workers = 32;  // of all shards together
  std::size_t queue_max = 1024;
  // After so many failures with no success between them the rest is not tried.
  std::size_t failures_max = 100;
};

class Crew {
 public:
  // Called at home when a job has ended.
  using Finished = std::function<void(const Job& job, const Result<Outcome>& outcome)>;

  // Lifetime: the members outlive it. Requires: there is one.
  Crew(std::vector<Tools*> members, const CrewOptions& options, Finished finished);

  void start();
  // Waits while the queue is full. Errors: closed, when the crew has given up.
  rt::Task<void> add(Job job);
  // Returns when all jobs have ended.
  rt::Task<void> finish();

  bool has_given_up() const { return gave_up_; }

 private:
  rt::Shard& home() const { return members_.front()->shard; }
  std::size_t workers_of(std::size_t member) const;
  rt::Task<void> work(Tools& tools, std::size_t workers);
  rt::Task<void> work_alone(Tools& tools);
  rt::Task<void> report(const Job& job, const Result<Outcome>& outcome);

  std::vector<Tools*> members_;
  CrewOptions options_;
  Finished finished_;
  rt::Queue<Job> queue_;
  Group parties_;
  std::size_t failures_ = 0;
  bool gave_up_ = false;
};

}  // namespace leat::transfer
