// Sink: where finished log lines go. Only the logger's writer thread calls it.
#pragma once

#include <string_view>

#include "base/result.h"

namespace leat::log {

class Sink {
 public:
  virtual ~Sink() = default;

  // Writes all of `lines`: one or more whole lines. May block; the writer waits and callers do not.
  // Errors: whatever the medium says. The lines then count as dropped.
  virtual Status write(std::string_view lines) = 0;
};

// Writes to an open descriptor, usually standard error. A descriptor in non-blocking mode, which a
// terminal shared with another program may be, is waited for.
// Lifetime: the descriptor is the caller's and stays open as long as the sink. The program ignores
// SIGPIPE, or a closed pipe ends it.
class FdSink final : public Sink {
 public:
  explicit FdSink(int fd) : fd_(fd) {}
  Status write(std::string_view lines) override;

 private:
  int fd_;
};

}  // namespace leat::log
