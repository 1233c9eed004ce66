// StopSignal: SIGTERM and SIGINT as a value that main() can wait for.
//
// The first signal ends wait(), and main() drains. A second one has its default effect: it ends the
// process at once, whatever state the shards are in. Data that was acknowledged is safe then, what
// was in flight is not.
//
// It holds the signals back in the thread that makes it and in every thread that is started later,
// so that none of them is hit: make it before any other thread. Thread: main's.
#pragma once

#include <csignal>

namespace leat::rt {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Blocks the calling thread until the first signal; returns its number.
  int wait();

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace leat::rt
