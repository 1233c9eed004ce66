// FaultPlan: which calls on a simulated disk go wrong, how, and when. Faults are data, so that a
// test can make them up from a seed and print them.
//
//   disk.faults().add({.call = DiskCall::sync, .nth = 3});                       the third sync:
//   EIO disk.faults().add({.call = DiskCall::write, .posix_errno = ENOSPC, .percent = 5});
//   disk.faults().add({.call = DiskCall::write, .effect = FaultEffect::lose, .nth = 1});
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "io/rng.h"
#include "sim/disk_call.h"

namespace leat::sim {

enum class FaultEffect : std::uint8_t {
  fail,     // the call fails with posix_errno; a failed sync also loses what it should have stored
  shorten,  // a write stores and reports fewer bytes than given
  lose,     // a write is acknowledged but its bytes are never stored
  delay,    // the call takes `delay` longer (seen by SimFileIo, which waits on the virtual clock)
};

struct Fault {
  DiskCall call = DiskCall::write;
  FaultEffect effect = FaultEffect::fail;
  int posix_errno = EIO;
  Duration delay{0};

  // The nth matching call from now on, 1 being the next; 0 for by chance.
  std::uint64_t nth = 0;
  // With nth: every later call as well, as a broken disk does.
  bool and_after = false;
  // Without nth: the chance of each call.
  std::uint64_t percent = 0;

  // Only paths that contain this.
  std::string path_part{};
};

// What happens to one call, all matching faults taken together.
struct Verdict {
  int posix_errno = 0;
  bool shorten = false;
  bool lose = false;
  Duration delay{0};
};

class FaultPlan {
 public:
  // Requires: nth > 0 or percent > 0; shorten and lose go with DiskCall::write.
  void add(Fault fault);
  void clear() { armed_.clear(); }

  // Counts the call against every fault that matches it.
  Verdict judge(DiskCall call, std::string_view path, io::Rng& rng);

 private:
  struct Armed {
    Fault fault;
    std::uint64_t seen = 0;
  };

  std::vector<Armed> armed_;
};

}  // namespace leat::sim
