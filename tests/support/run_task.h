// run_task: one task to its end on a real shard, for tests of what touches the kernel.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <memory>
#include <optional>

#include "rt/shard.h"

namespace leat::testing {

template <class T>
rt::Task<void> keep_result(rt::Task<T> task, std::shared_ptr<std::optional<Result<T>>> to) {
  to->emplace(co_await std::move(task));
  co_return Status{};
}

// Thread: the test's own; nobody else runs the shard.
template <class T>
Result<T> run_task(rt::Shard& shard, rt::Task<T> task) {
  auto result = std::make_shared<std::optional<Result<T>>>();
  shard.spawn(keep_result<T>(std::move(task), result), [](const Status&) {});
  const auto keep_running = boost::asio::make_work_guard(shard.executor());
  shard.context().restart();
  while (!result->has_value()) {
    shard.context().run_one();
  }
  return std::move(**result);
}

}  // namespace leat::testing
