#include "rt/shard.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace leat::rt {
namespace asio = boost::asio;

namespace {

[[noreturn]] void die_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "leat: bug: a task threw: %s\n", e.what());
  } catch (...) {
    std::fprintf(stderr, "leat: bug: a task threw something that is not an exception\n");
  }
  std::abort();
}

// The root of every task: cancellation comes back as a value, never as an exception.
asio::awaitable<Status, Executor> root(Task<void> task) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_return co_await std::move(task);
}

}  // namespace

// The reactor is touched by this shard's thread alone; only posting must be thread-safe.
Shard::Shard(ShardId id) : id_(id), context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO) {}

void Shard::spawn(Task<void> task, std::move_only_function<void(Status)> done) {
  asio::co_spawn(executor(), root(std::move(task)),
                 [done = std::move(done)](const std::exception_ptr& error, Status status) mutable {
                   if (error) die_of(error);
                   done(std::move(status));
                 });
}

Status Shard::deliver(std::move_only_function<void()> message) {
  if (mailbox_depth_.fetch_add(1, std::memory_order_relaxed) >= kMailboxMax) {
    mailbox_depth_.fetch_sub(1, std::memory_order_relaxed);
    return fail(Errc::busy, "mailbox of a shard is full");
  }
  asio::post(context_, [this, run = std::move(message)]() mutable {
    mailbox_depth_.fetch_sub(1, std::memory_order_relaxed);
    run();
  });
  return {};
}

Task<void> yield() {
  co_await asio::post(asio::use_awaitable_t<Executor>());
  co_return Status{};
}

}  // namespace leat::rt
