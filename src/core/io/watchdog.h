// Watchdog: ends streams whose deadline has passed.
//
// A timer per request would cost more than the request. Here a deadline is one assignment, and one
// task per shard looks over all of them every so often: never early, late by at most two periods,
// at no cost while nothing is late. Shard: one.
#pragma once

#include <functional>

#include "io/clock.h"
#include "io/stream.h"

namespace leat::io {

class Watchdog {
 public:
  // One watched stream, in the list from construction to destruction.
  // Lifetime: watchdog and stream outlive it.
  class Watch {
   public:
    Watch(Watchdog& dog, Stream& stream);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // From now on the stream has this long; each call replaces the last.
    void allow(Duration time) {
      deadline_ = dog_.later(time);
      idle_ = false;
    }

    // The same, between two requests: a stream that may be ended without anybody losing anything.
    void allow_idle(Duration time) {
      deadline_ = dog_.later(time);
      idle_ = true;
    }

    // The stream is not at fault for what happens now: it has all the time it wants.
    void pause() {
      deadline_ = Instant::max();
      idle_ = false;
    }

    // From now on the stream holds something that others may be short of.
    void hold() { held_since_ = dog_.now_; }
    void let_go() { held_since_ = Instant::max(); }

    Watchdog& dog() const { return dog_; }

   private:
    friend class Watchdog;
    Watchdog& dog_;
    Stream& stream_;
    Instant deadline_ = Instant::max();
    Instant held_since_ = Instant::max();
    bool idle_ = false;
    Watch* previous_ = nullptr;
    Watch* next_ = nullptr;
  };

  Watchdog(Clock& clock, Duration period);
  ~Watchdog();

  // Looks until stop() is called. Errors: none.
  rt::Task<void> run();
  void stop() { stopping_ = true; }

  // Called at each look, after the late ones were ended. Lifetime: what it refers to outlives
  // run().
  void on_look(std::function<void(Instant)> also) { also_ = std::move(also); }

  // Interrupts the stream that we wait for and that has held on for longest, if for `held_min` at
  // least. True if there was one.
  bool cut_longest_holder(Duration held_min);

  // The time of the last look.
  Instant now() const { return now_; }
  std::size_t watched() const { return count_; }

  // Interrupts every stream that is watched now, or only the idle ones.
  void interrupt_all(Errc reason);
  void interrupt_idle(Errc reason);

 private:
  // `time` from now. The true now is less than a period after the last look: counted from the next
  // one, nobody is cut too early.
  Instant later(Duration time) const { return now_ + period_ + time; }

  Clock& clock_;
  Duration period_;
  Instant now_;
  std::function<void(Instant)> also_;
  bool stopping_ = false;
  std::size_t count_ = 0;
  Watch* first_ = nullptr;
};

}  // namespace leat::io
