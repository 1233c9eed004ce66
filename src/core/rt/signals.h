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
#include <functional>
#include <thread>

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

// OnInterrupt: calls a function when the user presses ^C (SIGINT) or SIGTERM comes, on a thread of
// its own, once. A second signal ends the process as it does by default.
//
// For programs that work and then end, where StopSignal is for those that serve. Make it before any
// other thread.
class OnInterrupt {
 public:
  explicit OnInterrupt(std::function<void()> call);
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt&) = delete;
  OnInterrupt& operator=(const OnInterrupt&) = delete;

 private:
  sigset_t signals_{};
  sigset_t before_{};
  std::thread waiter_;
};

}  // namespace leat::rt
