#include "log/sink.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace leat::log {

Status FdSink::write(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t written = ::write(fd_, lines.data(), lines.size());
    if (written >= 0) {
      lines.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, /*timeout=*/-1);
    } else if (errno != EINTR) {
      return fail(Error::from_errno(errno, "write log"));
    }
  }
  return {};
}

}  // namespace leat::log
