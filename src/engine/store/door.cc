#include "store/door.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace leat::store {
namespace {

// How often a door that closes looks whether somebody is still inside.
constexpr Duration kNap = std::chrono::milliseconds(20);

std::unexpected<Error> leaving(const record::DiskId& id) {
  return fail(Errc::unavailable,
              fmt::format("disk {} is being taken out of service", record::to_hex(id)));
}

}  // namespace

placement::Candidate candidate_of(const Disk& disk) {
  std::uint64_t identity = 0;
  std::memcpy(&identity, disk.volume->identity().disk.data(), sizeof(identity));
  return {.identity = identity, .weight = disk.weight};
}

Result<rt::Gate::Pass> Door::enter() {
  if (gate_.is_closing()) return leaving(id_);
  return gate_.enter();
}

Status Door::check_patience() const {
  if (is_impatient_) return leaving(id_);
  return {};
}

rt::Task<void> Door::close(io::Clock& clock, Instant end) {
  gate_.begin_close();
  while (gate_.inside() > 0 && clock.now() < end) {
    const Instant wake = std::min(end, clock.now() + kNap);
    LEAT_CO_DO(co_await clock.sleep_until(wake));
  }
  is_impatient_ = true;
  LEAT_CO_DO(co_await gate_.close());
  co_return Status{};
}

rt::Task<void> ObjectStream::begin() {
  LEAT_CO_TRY(first_, co_await source_->next());
  co_return Status{};
}

rt::Task<Bytes> ObjectStream::next() {
  LEAT_CO_DO(door_->check_patience());
  if (first_) co_return *std::exchange(first_, std::nullopt);
  co_return co_await source_->next();
}

}  // namespace leat::store
