#include "rt/signals.h"

#include "base/check.h"

namespace leat::rt {

StopSignal::StopSignal() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  LEAT_CHECK(pthread_sigmask(SIG_BLOCK, &signals_, &before_) == 0);
}

StopSignal::~StopSignal() {
  (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int StopSignal::wait() {
  int number = 0;
  LEAT_CHECK(sigwait(&signals_, &number) == 0);
  // Whoever started us may have told us to ignore them; the second one must work all the same.
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  LEAT_CHECK(pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr) == 0);
  return number;
}

// The destructor's way to end the waiting thread; nobody else sends it to a thread.
constexpr int kEnd = SIGUSR2;

OnInterrupt::OnInterrupt(std::function<void()> call) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, kEnd);
  LEAT_CHECK(pthread_sigmask(SIG_BLOCK, &signals_, &before_) == 0);
  waiter_ = std::thread([signals = signals_, call = std::move(call)] {
    int number = 0;
    LEAT_CHECK(sigwait(&signals, &number) == 0);
    if (number == kEnd) return;
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    // All but the destructor's own, which may come while `call` runs and must not end the process.
    sigset_t second = signals;
    sigdelset(&second, kEnd);
    LEAT_CHECK(pthread_sigmask(SIG_UNBLOCK, &second, nullptr) == 0);
    call();
  });
}

OnInterrupt::~OnInterrupt() {
  // Blocked before the thread began, so that it waits for the thread if it is early.
  (void)pthread_kill(waiter_.native_handle(), kEnd);
  waiter_.join();
  (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace leat::rt
