#include "sim/crash.h"

#include <algorithm>

#include "base/check.h"

namespace leat::sim {
namespace {

// How many bytes of the write lie before its k-th boundary; k counts from 1.
std::uint64_t bytes_before_boundary(const Unsynced& write, std::uint64_t unit, std::uint64_t k) {
  return (write.offset / unit + k) * unit - write.offset;
}

SharedBytes cut(const Unsynced& write, const CrashOptions& options, io::Rng& rng) {
  const std::uint64_t unit = options.tear_bytes;
  const std::uint64_t last = write.offset + write.bytes->size() - 1;
  const std::uint64_t boundaries = last / unit - write.offset / unit;
  if (boundaries == 0) return write.bytes;
  const std::uint64_t kept = bytes_before_boundary(write, unit, 1 + rng.below(boundaries));
  std::vector<std::byte> bytes(write.bytes->begin(),
                               write.bytes->begin() + static_cast<std::ptrdiff_t>(kept));
  if (options.garbage) {
    bytes.resize(std::min<std::uint64_t>(kept + unit, write.bytes->size()));
    rng.fill(MutableBytes(bytes).subspan(kept));
  }
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

Fate tear(const Unsynced& change, const CrashOptions& options, io::Rng& rng) {
  const std::uint64_t drawn = rng.below(3);
  if (drawn == 0) return Fate{};
  if (drawn == 1 || change.call != DiskCall::write) return Fate{.keep = true, .instead = nullptr};
  return Fate{.keep = true, .instead = cut(change, options, rng)};
}

}  // namespace

DiskState::Chooser make_chooser(CrashOptions options, io::Rng& rng) {
  LEAT_CHECK(options.tear_bytes == 512 || options.tear_bytes == 4096);
  return [options, &rng](const Unsynced& change) {
    switch (options.mode) {
      case CrashMode::drop_unsynced: return Fate{};
      case CrashMode::keep_all: return Fate{.keep = true, .instead = nullptr};
      case CrashMode::keep_random_subset: return Fate{.keep = rng.chance(1, 2), .instead = nullptr};
      case CrashMode::torn: return tear(change, options, rng);
    }
    return Fate{};
  };
}

}  // namespace leat::sim
