// Timeline: the virtual time of a world and everything that is still to happen in it.
//
// Time stands still while code runs and jumps to the earliest event when nothing else is left to
// do. Events of the same instant happen in the order in which they were added.
//
// Shard: the world's only one. Lifetime: outlives every clock, network and file of the world.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/time.h"
#include "rt/task.h"
#include "sim/trace.h"

namespace leat::sim {

class Timeline {
 public:
  using Event = std::move_only_function<void()>;

  // Not zero: code that subtracts a duration from "now" must not come out before the beginning.
  static constexpr Instant kStart{std::chrono::hours(1)};

  Instant now() const { return now_; }

  // Runs `event` at `when`, or next if that is past.
  void at(Instant when, Event event);

  // Errors: cancelled, after cancel_sleepers().
  rt::Task<void> sleep_until(Instant when);

  std::optional<Instant> next_event() const;

  // Goes to the earliest event and lets it happen. Requires: there is one.
  void fire_next();

  // Requires: no event is due before `when`.
  void advance_to(Instant when);

  // Ends every sleep with Errc::cancelled, as a shard that shuts down does.
  void cancel_sleepers();

  // Forgets all events; the tasks that sleep are destroyed.
  void clear();

  // Adds to the trace, stamped with the time.
  void note(std::string_view what, std::string_view subject, std::uint64_t a = 0,
            std::uint64_t b = 0) {
    trace_.record(now_, what, subject, a, b);
  }
  const Trace& trace() const { return trace_; }

 private:
  using Key = std::pair<Instant, std::uint64_t>;
  using Entry = std::variant<Event, rt::Resume<void>>;

  void add(Instant when, Entry entry);

  Instant now_ = kStart;
  std::uint64_t added_ = 0;
  std::map<Key, Entry> entries_;
  Trace trace_;
};

}  // namespace leat::sim
