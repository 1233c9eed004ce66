// Failure: the first thing that went wrong beside the calls that return errors, kept for good.
//
// After a failed flush RocksDB may go on, or try again by itself, depending on what failed. Leat
// does neither: what is in memory is also in the segments, so the map takes nothing more, and
// whoever opens it anew brings it up to date. A failed sync must not be tried again anyway
// (docs/adr/0007-durable-by-default.md).
//
// Thread: any.
#pragma once

#include <rocksdb/listener.h>

#include <atomic>
#include <memory>

#include "base/result.h"
#include "kv/status.h"

namespace leat::kv {

class Failure final : public rocksdb::EventListener {
 public:
  Failure() = default;
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  ~Failure() override { const std::unique_ptr<const Error> owned(first_.load()); }

  Status check() const {
    const Error* first = first_.load(std::memory_order_acquire);
    return first == nullptr ? Status() : fail(first->clone());
  }

  void note(Error error) {
    auto mine = std::make_unique<const Error>(std::move(error));
    const Error* none = nullptr;
    if (first_.compare_exchange_strong(none, mine.get())) mine.release();
  }

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    note(to_error(*status));
  }

  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  std::atomic<const Error*> first_ = nullptr;
};

}  // namespace leat::kv
