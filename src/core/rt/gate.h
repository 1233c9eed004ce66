// Gate: counts who is inside, and lets nobody in once it is closing.
//
// Every service has one: a request enters and leaves by its Pass; stop() awaits close(), which
// returns when the last one has left. Shard: a gate belongs to one shard.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"
#include "rt/task.h"

namespace leat::rt {

class Gate {
 public:
  // Being inside. Leaves when destroyed. Lifetime: the gate outlives its passes.
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_(&gate) { ++gate.inside_; }
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { LEAT_CHECK(inside_ == 0); }

  // Errors: unavailable, once close() was called.
  Result<Pass> enter() {
    if (closing_) return fail(Errc::unavailable, "shutting down");
    return Pass(*this);
  }

  // Refuses new passes from now on.
  void begin_close() { closing_ = true; }
  // The same; returns when everybody has left. May be awaited more than once.
  Task<void> close();

  bool is_closing() const { return closing_; }
  std::size_t inside() const { return inside_; }

 private:
  void leave();

  std::size_t inside_ = 0;
  bool closing_ = false;
  std::vector<Resume<void>> waiting_;
};

}  // namespace leat::rt
