// Runtime: the shards of the process, one thread each, from start() to stop().
//
// main() makes it, builds the services shard by shard, starts it, waits for a signal, drains the
// services and stops it. Nothing is global: whoever needs a shard is given it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "rt/shard.h"

namespace leat::rt {

class Runtime {
 public:
  // 0 shards = one for each core the process may use.
  explicit Runtime(std::uint32_t shards);

  // Requires: stop() was called, if start() was.
  ~Runtime();

  std::uint32_t size() const { return static_cast<std::uint32_t>(shards_.size()); }
  Shard& shard(std::uint32_t index) { return *shards_[index]; }

  void start();

  // Ends the loops and joins the threads; tasks that still wait are destroyed with their shard.
  void stop();

  // Runs `work(shard)` on every shard and waits for all answers. For the thread of main() only.
  // Errors: the first one that `work` returned; busy, when a shard's mailbox is full.
  Status on_every_shard(const std::function<Task<void>(Shard&)>& work);

 private:
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<std::thread> threads_;
  std::vector<boost::asio::executor_work_guard<Executor>> keep_running_;
};

}  // namespace leat::rt
