// Turn: how much one connection may do before the other tasks of its shard are looked at.
//
// A connection whose socket is never empty and never full would never wait, and so keep the shard
// for itself: many small pipelined requests as well as one large body. Shard: one.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "rt/shard.h"

namespace leat::http {

class Turn {
 public:
  static constexpr std::uint64_t kBytes = 8 * kMiB;
  static constexpr unsigned kRequests = 64;

  void sent(std::uint64_t bytes) { bytes_ += bytes; }
  void answered() { ++requests_; }

  // The connection has waited: the others had their turn.
  void renew() { *this = {}; }

  bool is_over() const { return bytes_ >= kBytes || requests_ >= kRequests; }

  // Lets the others run, and begins anew.
  rt::Task<void> pass() {
    renew();
    return rt::yield();
  }

 private:
  std::uint64_t bytes_ = 0;
  unsigned requests_ = 0;
};

}  // namespace leat::http
