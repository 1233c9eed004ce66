#include "transfer/crew.h"

#include "base/check.h"

namespace leat::transfer {

Crew::Crew(std::vector<Tools*> members, const CrewOptions& options, Finished finished)
    : members_(std::move(members)),
      options_(options),
      finished_(std::move(finished)),
      queue_(options.queue_max),
      parties_(members_.front()->shard) {
  LEAT_CHECK(options.workers > 0);
}

// As even as it gets.
std::size_t Crew::workers_of(std::size_t member) const {
  const std::size_t each = options_.workers / members_.size();
  return each + (member < options_.workers % members_.size() ? 1 : 0);
}

void Crew::start() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Tools& tools = *members_[i];
    const std::size_t workers = workers_of(i);
    if (workers == 0) continue;
    auto make = [this, &tools, workers] { return work(tools, workers); };
    parties_.spawn(rt::ask<void>(home(), tools.shard, std::move(make)));
  }
}

rt::Task<void> Crew::add(Job job) {
  Counters& counters = members_.front()->counters;
  counters.files_total += job.action == Action::remove ? job.keys.size() : 1;
  counters.bytes_total += job.size_bytes;
  return queue_.push(std::move(job));
}

rt::Task<void> Crew::finish() {
  members_.front()->counters.is_planned = true;
  queue_.close();
  return parties_.wait();
}

rt::Task<void> Crew::work(Tools& tools, std::size_t workers) {
  Group group(tools.shard);
  for (std::size_t i = 0; i < workers; ++i)
    group.spawn(work_alone(tools));
  co_return co_await group.wait();
}

rt::Task<void> Crew::work_alone(Tools& tools) {
  while (true) {
    auto pop = [this] { return queue_.pop(); };
    auto popping = rt::ask<Job>(tools.shard, home(), pop);
    auto job = co_await std::move(popping);
    if (!job) co_return Status{};  // closed: all is done
    auto outcome = co_await execute(tools, *job);
    auto tell = [this, &job, &outcome] { return report(*job, outcome); };
    auto telling = rt::ask<void>(tools.shard, home(), tell);
    LEAT_CO_DO(co_await std::move(telling));
  }
}

rt::Task<void> Crew::report(const Job& job, const Result<Outcome>& outcome) {
  Counters& counters = members_.front()->counters;
  const std::uint64_t count = job.action == Action::remove ? job.keys.size() : 1;
  if (outcome) {
    failures_ = 0;
    counters.files_done += count - outcome->failed.size();
    counters.files_failed += outcome->failed.size();
    if (outcome->is_skipped) ++counters.files_skipped;
  } else {
    counters.files_failed += count;
    if (++failures_ >= options_.failures_max && !gave_up_) {
      gave_up_ = true;
      queue_.close();
    }
  }
  finished_(job, outcome);
  co_return Status{};
}

}  // namespace leat::transfer
