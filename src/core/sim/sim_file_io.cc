#include "sim/sim_file_io.h"

namespace leat::sim {

SimFileIo::SimFileIo(Timeline& timeline, SimDisk& disk, std::uint64_t seed, FileIoOptions options)
    : timeline_(timeline), disk_(disk), rng_(seed), options_(options) {}

Status SimFileIo::refuse(std::size_t& left) {
  if (left == 0) return {};
  --left;
  return fail(Errc::busy, "refused");
}

rt::Task<void> SimFileIo::take(Duration base) {
  const auto jitter = static_cast<std::uint64_t>(options_.jitter.count());
  const Duration more(static_cast<Duration::rep>(rng_.below(jitter + 1)));
  return timeline_.sleep_until(timeline_.now() + base + more);
}

rt::Task<void> SimFileIo::take_delay() {
  const Duration delay = disk_.take_delay();
  if (delay == Duration{0}) co_return Status{};
  const Instant end = timeline_.now() + delay;
  co_return co_await timeline_.sleep_until(end);
}

rt::Task<std::size_t> SimFileIo::read_at(const io::File& file, std::uint64_t offset,
                                         MutableBytes target) {
  LEAT_CO_DO(co_await take(options_.read));
  Result<std::size_t> count = file.read_at(offset, target);
  LEAT_CO_DO(co_await take_delay());
  co_return count;
}

rt::Task<void> SimFileIo::write_at(io::File& file, std::uint64_t offset, Bytes source) {
  LEAT_CO_DO(co_await take(options_.write));
  LEAT_CO_DO(refuse(refused_writes_));
  Status done = file.write_all_at(offset, source);
  LEAT_CO_DO(co_await take_delay());
  co_return done;
}

rt::Task<void> SimFileIo::sync_data(io::File& file) {
  LEAT_CO_DO(co_await take(options_.sync));
  LEAT_CO_DO(refuse(refused_syncs_));
  Status done = file.sync_data();
  LEAT_CO_DO(co_await take_delay());
  co_return done;
}

}  // namespace leat::sim
