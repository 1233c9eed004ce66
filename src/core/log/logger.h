// Logger: structured log lines that never make their caller wait.
//
//   logger.info("listening", {{"address", address}, {"shards", 2}});
//
// A line is formatted in the caller's thread and appended to a bounded buffer, which one writer
// thread hands to the sink. If the sink is slower than the program, lines that do not fit are
// dropped and counted, and the next line that fits is preceded by one that says how many were lost.
// Lines of one thread keep their order.
//
// Safe from any thread. Lifetime: sink and clock outlive the logger; the destructor writes what is
// left, so destroy it after everything that logs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "log/field.h"
#include "log/format.h"
#include "log/sink.h"

namespace leat::io {
class Clock;
}

namespace leat::log {

struct Options {
  Level level = Level::info;  // lines below it cost one comparison
  Style style = {};           // the caller knows whether the sink is a terminal, and NO_COLOR
  std::size_t buffer_max_bytes = 1024 * 1024;  // waiting lines; as much again may be in the sink
};

class Logger {
 public:
  Logger(Sink& sink, const io::Clock& clock, Options options = {});
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  using Fields = std::initializer_list<Field>;
  void debug(std::string_view event, Fields fields = {}) { log(Level::debug, event, fields); }
  void info(std::string_view event, Fields fields = {}) { log(Level::info, event, fields); }
  void warn(std::string_view event, Fields fields = {}) { log(Level::warn, event, fields); }
  void error(std::string_view event, Fields fields = {}) { log(Level::error, event, fields); }

  // `event` is a short constant phrase; what varies is a field. `ts`, `level` and
  // `event` are no keys for it.
  void log(Level level, std::string_view event, std::span<const Field> fields) {
    if (enabled(level)) write(level, event, fields);
  }

  // For fields that are costly to make.
  bool enabled(Level level) const { return level >= options_.level; }

  // Lines lost so far: no room, or the sink failed.
  std::uint64_t dropped() const;

 private:
  struct Batch {
    std::string text;               // whole lines, oldest first
    std::uint64_t events = 0;       // lines that callers logged
    std::uint64_t losses_told = 0;  // by the notices among the lines
  };

  void write(Level level, std::string_view event, std::span<const Field> fields);
  std::string loss_notice() const;  // Requires: mutex_ is held and lost_ > 0
  void run_writer();

  Sink& sink_;
  const io::Clock& clock_;
  const Options options_;

  mutable std::mutex mutex_;  // guards everything down to stopping_
  std::condition_variable wake_;
  Batch waiting_;
  std::uint64_t dropped_ = 0;
  std::uint64_t lost_ = 0;  // of dropped_, those no line has told of yet
  bool stopping_ = false;

  std::thread writer_;  // last: it starts when all else is ready
};

}  // namespace leat::log
