// MemoryBudget: the bytes that transfers of one shard may hold, leased and given back.
//
// Who wants more than is left waits, in the order of coming. One lease may exceed the whole budget
// if it is alone: a part of a very large object must be sent all the same.
//
// Shard: one. Lifetime: outlives its leases.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "rt/task.h"

namespace leat::transfer {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  class Lease {
   public:
    Lease(MemoryBudget& budget, std::size_t size)
        : budget_(&budget), data_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          data_(std::move(other.data_)),
          size_(other.size_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (budget_ != nullptr) budget_->give_back(size_);
    }

    MutableBytes bytes() const { return {data_.get(), size_}; }

   private:
    MemoryBudget* budget_;
    std::unique_ptr<std::byte[]> data_;
    std::size_t size_;
  };

  rt::Task<Lease> lease(std::size_t size) {
    if (!waiting_.empty() || !fits(size)) {
      auto turn = rt::suspend<void>(
          [this, size](rt::Resume<void> resume) { waiting_.push_back({size, std::move(resume)}); });
      LEAT_CO_DO(co_await std::move(turn));  // give_back() has counted it
    } else {
      in_use_ += size;
    }
    co_return Lease(*this, size);
  }

  std::size_t in_use() const { return in_use_; }

 private:
  struct Waiter {
    std::size_t size;
    rt::Resume<void> resume;
  };

  bool fits(std::size_t size) const { return in_use_ == 0 || in_use_ + size <= bytes_max_; }

  void give_back(std::size_t size) {
    in_use_ -= size;
    while (!waiting_.empty() && fits(waiting_.front().size)) {
      Waiter first = std::move(waiting_.front());
      waiting_.pop_front();
      in_use_ += first.size;
      first.resume(Status{});
    }
  }

  std::size_t bytes_max_;
  std::size_t in_use_ = 0;
  std::deque<Waiter> waiting_;
};

}  // namespace leat::transfer
