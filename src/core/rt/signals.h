// StopSignal: SIGTERM and SIGINT as a value that main() can wait for.
//
// The first signal ends wait(), and main() drains. A second one, while draining, ends the process
// at once with exit code 128 + signal: data that was acknowledged is safe, what was in flight is
// not.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <future>

#include "rt/shard.h"

namespace leat::rt {

class StopSignal {
 public:
  // Lifetime: the shard outlives it.
  explicit StopSignal(Shard& shard);

  // Blocks the calling thread (main's) until the first signal; returns its number.
  int wait();

 private:
  void listen_for_second();

  boost::asio::signal_set signals_;
  std::promise<int> first_;
};

}  // namespace leat::rt
