#include "rt/signals.h"

#include <unistd.h>

#include <csignal>

namespace leat::rt {

StopSignal::StopSignal(Shard& shard) : signals_(shard.context(), SIGTERM, SIGINT) {
  signals_.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    first_.set_value(number);
    listen_for_second();
  });
}

void StopSignal::listen_for_second() {
  signals_.async_wait([](const boost::system::error_code& error, int number) {
    if (!error) _exit(128 + number);
  });
}

int StopSignal::wait() {
  return first_.get_future().get();
}

}  // namespace leat::rt
