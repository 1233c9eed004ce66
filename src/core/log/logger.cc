#include "log/logger.h"

#include <array>
#include <tuple>
#include <utility>

#include "io/clock.h"

namespace leat::log {

Logger::Logger(Sink& sink, const io::Clock& clock, Options options)
    : sink_(sink), clock_(clock), options_(options), writer_([this] { run_writer(); }) {}

Logger::~Logger() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  writer_.join();
}

std::uint64_t Logger::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

void Logger::write(Level level, std::string_view event, std::span<const Field> fields) {
  const std::string line =
      format_line({.time = clock_.wall_now(), .level = level, .event = event, .fields = fields},
                  options_.style);
  bool was_empty = false;
  {
    const std::scoped_lock lock(mutex_);
    const std::string notice = lost_ > 0 ? loss_notice() : "";
    if (waiting_.text.size() + notice.size() + line.size() > options_.buffer_max_bytes) {
      ++dropped_;
      ++lost_;
      return;
    }
    was_empty = waiting_.text.empty();
    waiting_.text += notice;
    waiting_.text += line;
    waiting_.events += 1;
    waiting_.losses_told += std::exchange(lost_, 0);
  }
  // The writer sleeps only while the buffer is empty.
  if (was_empty) wake_.notify_one();
}

std::string Logger::loss_notice() const {
  const std::array<Field, 1> fields = {{{"lines", lost_}}};
  return format_line({.time = clock_.wall_now(),
                      .level = Level::warn,
                      .event = "log lines lost",
                      .fields = fields},
                     options_.style);
}

void Logger::run_writer() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.text.empty(); });
    if (waiting_.text.empty()) break;
    const Batch batch = std::exchange(waiting_, {});
    lock.unlock();
    const bool written = sink_.write(batch.text).has_value();
    lock.lock();
    if (!written) {
      dropped_ += batch.events;
      lost_ += batch.events + batch.losses_told;
    }
  }
  // Nobody logs any more: what was lost last is told by a line of its own. If the sink refuses even
  // this, there is no one left to tell.
  if (lost_ > 0) std::ignore = sink_.write(loss_notice());
}

}  // namespace leat::log
