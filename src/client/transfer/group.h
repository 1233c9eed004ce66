// Group: tasks of one shard that are waited for together.
//
// Shard: one. Lifetime: wait() has returned before it is destroyed; what the tasks refer to
// outlives that.
#pragma once

#include "rt/gate.h"
#include "rt/shard.h"

namespace leat::transfer {

class Group {
 public:
  explicit Group(rt::Shard& shard) : shard_(shard) {}

  // Requires: wait() was not called.
  void spawn(rt::Task<void> task) {
    shard_.spawn(std::move(task), [this, pass = rt::Gate::Pass(gate_)](Status ended) {
      if (!ended && first_) first_ = std::move(ended);
    });
  }

  // True once a task has failed: the others may stop early.
  bool has_failed() const { return !first_.has_value(); }

  // Returns when all have ended. Errors: the first one's.
  rt::Task<void> wait() {
    LEAT_CO_DO(co_await gate_.close());
    co_return std::move(first_);
  }

 private:
  rt::Shard& shard_;
  rt::Gate gate_;
  Status first_;
};

}  // namespace leat::transfer
