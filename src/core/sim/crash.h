// CrashMode: what a power cut leaves of the changes that were not synced.
//
// A real disk may keep any of them, in any order, in part. drop_unsynced and keep_all are the two
// ends; keep_random_subset is everything between; torn also cuts writes where a sector or a page
// ends.
#pragma once

#include <cstdint>

#include "io/rng.h"
#include "sim/disk_state.h"

namespace leat::sim {

enum class CrashMode : std::uint8_t { drop_unsynced, keep_all, keep_random_subset, torn };

struct CrashOptions {
  CrashMode mode = CrashMode::drop_unsynced;

  // For torn: writes are cut at multiples of this in the file, 512 (a sector) or 4096 (a page).
  std::uint64_t tear_bytes = 512;
  // For torn: the first unit that was not written holds random bytes instead of the old ones.
  bool garbage = false;
};

// Decides each change by `options` and `rng`. Lifetime: `rng` outlives the chooser.
DiskState::Chooser make_chooser(CrashOptions options, io::Rng& rng);

}  // namespace leat::sim
