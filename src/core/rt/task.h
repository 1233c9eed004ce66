// Task<T>: a coroutine that runs on one shard and ends in a Result<T>.
//
// Tasks are lazy: nothing happens until one is awaited or spawned (rt/shard.h). A task never leaves
// the shard it was started on, so what it touches there needs no lock. Cancellation is a value, not
// an exception: a cancelled wait returns Errc::cancelled like any other error.
//
// The coroutine rules of docs/adr/0001-compilers-and-coroutine-rules.md apply to every co_await.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <optional>
#include <utility>

#include "base/result.h"

namespace leat::rt {

using Executor = boost::asio::io_context::executor_type;

template <class T = void>
using Task = boost::asio::awaitable<Result<T>, Executor>;

// The completion token for Asio's own operations: the outcome lands in `error`, nothing is thrown.
inline auto await_into(boost::system::error_code& error) {
  return boost::asio::redirect_error(boost::asio::use_awaitable_t<Executor>(), error);
}

// Resume<T> wakes one suspended task with its result. It may be called once, from any thread; the
// task goes on later, on its own shard. Dropping it unused destroys the task.
template <class T>
class Resume {
 public:
  // Not Asio's any_completion_handler: the one of Boost 1.81 corrupts the heap.
  using Handler = std::move_only_function<void(Result<T>)>;

  Resume() = default;
  Resume(Handler handler, Executor executor)
      : handler_(std::move(handler)), executor_(std::in_place, executor) {}

  explicit operator bool() const { return executor_.has_value(); }

  void operator()(Result<T> result) {
    auto executor = *executor_;
    executor_.reset();
    boost::asio::post(executor, [handler = std::move(handler_), r = std::move(result)]() mutable {
      handler(std::move(r));
    });
  }

 private:
  Handler handler_;
  std::optional<Executor> executor_;
};

// Suspends the running task and hands its Resume to `start`, which keeps it for whoever ends the
// wait.
//   LEAT_CO_TRY(auto n, co_await suspend<std::size_t>([&](auto resume) { waiter_ =
//   std::move(resume); }));
template <class T, class Start>
Task<T> suspend(Start start) {
  using Token = boost::asio::use_awaitable_t<Executor>;
  const Executor executor = co_await boost::asio::this_coro::executor;
  Token token;
  auto initiate = [executor](auto&& handler, Start&& begin) {
    begin(Resume<T>(std::forward<decltype(handler)>(handler), executor));
  };
  auto waiting = boost::asio::async_initiate<Token, void(Result<T>)>(std::move(initiate), token,
                                                                     std::move(start));
  co_return co_await std::move(waiting);
}

}  // namespace leat::rt
