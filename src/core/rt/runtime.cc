#include "rt/runtime.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <boost/asio/executor_work_guard.hpp>
#include <future>

#include "base/check.h"

namespace leat::rt {
namespace {

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

Runtime::Runtime(std::uint32_t shards) {
  const std::uint32_t count = shards == 0 ? usable_cores() : shards;
  for (std::uint32_t i = 0; i < count; ++i) {
    shards_.push_back(std::make_unique<Shard>(ShardId(i)));
    keep_running_.emplace_back(shards_.back()->executor());
  }
}

Runtime::~Runtime() {
  LEAT_CHECK(threads_.empty());
}

void Runtime::start() {
  for (const auto& shard : shards_) {
    threads_.emplace_back([&context = shard->context()] { context.run(); });
    pthread_setname_np(threads_.back().native_handle(),
                       fmt::format("shard-{}", shard->id().value()).c_str());
  }
}

void Runtime::stop() {
  keep_running_.clear();
  for (const auto& shard : shards_)
    shard->context().stop();
  for (std::thread& thread : threads_)
    thread.join();
  threads_.clear();
}

Status Runtime::on_every_shard(const std::function<Task<void>(Shard&)>& work) {
  std::vector<std::future<Status>> answers;
  Status first;
  for (const auto& shard : shards_) {
    auto promise = std::make_shared<std::promise<Status>>();
    auto answer = promise->get_future();
    Status sent = shard->deliver([&work, promise, target = shard.get()] {
      target->spawn(work(*target), [promise](Status s) { promise->set_value(std::move(s)); });
    });
    // Those that were told use `work` until they have answered: they are waited for all the same.
    if (sent) {
      answers.push_back(std::move(answer));
    } else if (first) {
      first = std::move(sent);
    }
  }
  for (std::future<Status>& answer : answers) {
    Status status = answer.get();
    if (!status && first) first = std::move(status);
  }
  return first;
}

}  // namespace leat::rt
