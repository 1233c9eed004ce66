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

  // A piece of memory, whose bytes are not set. Large ones are used again: fresh pages cost more
  // than what is copied into them.
  struct Piece {
    std::unique_ptr<std::byte[]> data{};
    std::size_t capacity = 0;
  };

  class Lease {
   public:
    Lease(MemoryBudget& budget, Piece piece, std::size_t size)
        : budget_(&budget), piece_(std::move(piece)), size_(size) {}
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          piece_(std::move(other.piece_)),
          size_(other.size_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (budget_ != nullptr) budget_->give_back(std::move(piece_), size_);
    }

    MutableBytes bytes() const { return {piece_.data.get(), size_}; }

   private:
    MemoryBudget* budget_;
    Piece piece_;
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
    co_return Lease(*this, piece_for(size), size);
  }

  std::size_t in_use() const { return in_use_; }

 private:
  struct Waiter {
    std::size_t size;
    rt::Resume<void> resume;
  };

  static constexpr std::size_t kKeptMinBytes = kMiB;

  bool fits(std::size_t size) const { return in_use_ == 0 || in_use_ + size <= bytes_max_; }

  Piece piece_for(std::size_t size) {
    if (!kept_.empty() && kept_.back().capacity >= size && size >= kKeptMinBytes) {
      Piece piece = std::move(kept_.back());
      kept_.pop_back();
      kept_bytes_ -= piece.capacity;
      return piece;
    }
    // What is kept must not add to what is in use.
    while (!kept_.empty() && in_use_ + kept_bytes_ > bytes_max_) {
      kept_bytes_ -= kept_.front().capacity;
      kept_.pop_front();
    }
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
  }

  void give_back(Piece piece, std::size_t size) {
    in_use_ -= size;
    if (piece.capacity >= kKeptMinBytes && in_use_ + kept_bytes_ + piece.capacity <= bytes_max_) {
      kept_bytes_ += piece.capacity;
      kept_.push_back(std::move(piece));
    }
    while (!waiting_.empty() && fits(waiting_.front().size)) {
      Waiter first = std::move(waiting_.front());
      waiting_.pop_front();
      in_use_ += first.size;
      first.resume(Status{});
    }
  }

  std::size_t bytes_max_;
  std::size_t in_use_ = 0;
  std::deque<Piece> kept_;
  std::size_t kept_bytes_ = 0;
  std::deque<Waiter> waiting_;
};

}  // namespace leat::transfer
