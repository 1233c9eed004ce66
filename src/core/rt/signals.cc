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

}  // namespace leat::rt
