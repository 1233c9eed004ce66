// Shard: one thread, one event loop, and everything that belongs to it.
//
// A process has one shard per core (rt/runtime.h). Objects are made on a shard and stay there;
// between shards only values and moved ownership travel, as messages into the other's bounded
// mailbox. That is why code on a shard needs no locks.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/strong.h"
#include "rt/task.h"

namespace leat::rt {

using ShardId = Strong<std::uint32_t, struct ShardIdTag>;

class Shard {
 public:
  static constexpr std::size_t kMailboxMax = 64 * 1024;

  explicit Shard(ShardId id);

  ShardId id() const { return id_; }
  boost::asio::io_context& context() { return context_; }
  Executor executor() { return context_.get_executor(); }

  // Starts a task on this shard. Shard: this one. Use deliver() from another.
  // `done` gets the task's result; a task that throws is a bug and ends the process.
  void spawn(Task<void> task, std::move_only_function<void(Status)> done);

  // Runs `message` on this shard, later. Safe from any thread.
  // Errors: busy, when the mailbox holds kMailboxMax messages.
  Status deliver(std::move_only_function<void()> message);

  std::size_t mailbox_depth() const { return mailbox_depth_.load(std::memory_order_relaxed); }

 private:
  ShardId id_;
  boost::asio::io_context context_;
  std::atomic<std::size_t> mailbox_depth_{0};
};

// Awaits a task and hands its outcome to who waits for it, on another shard.
template <class T>
Task<void> answer(Task<T> task, std::shared_ptr<Resume<T>> resume) {
  auto outcome = co_await std::move(task);
  (*resume)(std::move(outcome));
  co_return Status{};
}

// Runs `work` on `target` and returns its answer to the calling task's own shard.
// Errors: busy (full mailbox) and whatever `work` returns.
template <class T, class Work>
Task<T> call(Shard& target, Work work) {
  return suspend<T>([&target, work = std::move(work)](Resume<T> resume) mutable {
    auto shared = std::make_shared<Resume<T>>(std::move(resume));
    Status sent = target.deliver([shared, w = std::move(work)]() mutable { (*shared)(w()); });
    if (!sent) (*shared)(fail(std::move(sent).error()));
  });
}

// Runs a task on `target` and returns its answer to the calling task, which runs on `from`. `make`
// gives the task; it is called on `target`, or on the spot if that is the same shard.
// Lifetime: what the task refers to outlives the answer, so the caller's own variables do.
// Errors: busy (full mailbox) and whatever the task returns.
template <class T, class Make>
Task<T> ask(Shard& from, Shard& target, Make make) {
  if (&from == &target) return make();
  return suspend<T>([&target, make = std::move(make)](Resume<T> resume) mutable {
    auto shared = std::make_shared<Resume<T>>(std::move(resume));
    Status sent = target.deliver([&target, shared, m = std::move(make)]() mutable {
      target.spawn(answer<T>(m(), shared), [](const Status&) {});
    });
    if (!sent) (*shared)(fail(std::move(sent).error()));
  });
}

// Lets the other tasks of this shard run, then goes on.
Task<void> yield();

}  // namespace leat::rt
