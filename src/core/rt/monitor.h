// Monitor<State>: state that threads share, one at a time, and may wait for.
//
//   rt::Monitor<Line> line;
//   line.with([&](Line& l) { l.push_back(std::move(item)); return true; });  // true: wake who
//   waits line.wait([&](Line& l) { return !l.empty(); }, [&](Line& l) { take(l); });
//
// Shards need none of it: they send messages. It is for the border between shards and threads that
// are not ours, such as those of a program that calls the client library, and that block.
//
// Safe from any thread. A shard's thread may call with(), whose work is short, and never wait().
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "rt/shard.h"

namespace leat::rt {

template <class State>
class Monitor {
 public:
  template <class... Arguments>
  explicit Monitor(Arguments&&... arguments) : state_(std::forward<Arguments>(arguments)...) {}

  // Runs `work(state)` alone; wakes those who wait if it returns true. They are woken under the
  // lock, so that who is woken may destroy the monitor at once.
  template <class Work>
  void with(Work&& work) const {
    const std::lock_guard lock(mutex_);
    if (std::forward<Work>(work)(state_)) changed_.notify_all();
  }

  // Waits until `is_there(state)`, then runs `work(state)`, both alone.
  template <class IsThere, class Work>
  void wait(IsThere&& is_there, Work&& work) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_there(state_); });
    std::forward<Work>(work)(state_);
  }

  // As wait(), but at most so long. False: it did not come to that, and `work` was not run.
  template <class Duration, class IsThere, class Work>
  bool wait_for(Duration limit, IsThere&& is_there, Work&& work) const {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, limit, [&] { return is_there(state_); })) return false;
    std::forward<Work>(work)(state_);
    return true;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable State state_;  // guarded by mutex_
};

template <class T, class Tell>
Task<void> tell_when_done(Task<T> task, Tell tell) {
  auto outcome = co_await std::move(task);
  tell(std::move(outcome));
  co_return Status{};
}

// Runs a task on `shard` and blocks the calling thread until it has ended.
// Requires: the caller is no shard's thread; the shard runs. Lifetime: what the task refers to may
// be the caller's own variables.
// Errors: busy (full mailbox) and whatever the task returns.
template <class T, class Make>
Result<T> run_and_wait(Shard& shard, Make make) {
  using Outcome = Monitor<std::optional<Result<T>>>;
  const auto outcome = std::make_shared<Outcome>();
  const auto tell = [outcome](Result<T> result) {
    outcome->with([&](std::optional<Result<T>>& slot) {
      slot.emplace(std::move(result));
      return true;
    });
  };
  Status sent = shard.deliver([&shard, make = std::move(make), tell]() mutable {
    shard.spawn(tell_when_done<T>(make(), tell), [](const Status&) {});
  });
  if (!sent) return fail(std::move(sent).error());
  std::optional<Result<T>> result;
  outcome->wait([](const auto& slot) { return slot.has_value(); },
                [&result](auto& slot) { result = std::move(slot); });
  return *std::move(result);
}

}  // namespace leat::rt
