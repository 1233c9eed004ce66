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

rt::Task<void> note_at(volume::Volume& volume, const volume::Unread& unread) {
  volume.note_unread(unread);
  co_return Status{};
}

// `inside`: of a door to the volume, which stays until it was told.
rt::Task<void> tell(rt::Shard& from, const Disk& disk, volume::Unread unread,
                    rt::Gate::Pass /*inside*/) {
  volume::Volume& volume = *disk.volume;
  auto told =
      rt::ask<void>(from, *disk.home, [&volume, &unread] { return note_at(volume, unread); });
  co_return co_await std::move(told);
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

void Door::note_unread(const record::ObjectKey& object, record::VersionId version,
                       const Error& error) {
  if (error.code() != Errc::corrupt && error.code() != Errc::io) return;
  auto inside = enter();
  if (!inside) return;
  rt::Shard& shard = reader_.kit().shard;
  volume::Unread unread{.object = object, .version = version, .error = error.clone()};
  shard.spawn(tell(shard, disk_, std::move(unread), std::move(*inside)), [](const Status&) {});
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

rt::Task<Bytes> ObjectStream::read() {
  auto bytes = co_await source_->next();
  if (!bytes) door_->note_unread(name_.object, name_.version, bytes.error());
  co_return bytes;
}

rt::Task<void> ObjectStream::begin() {
  LEAT_CO_TRY(first_, co_await read());
  co_return Status{};
}

rt::Task<Bytes> ObjectStream::next() {
  LEAT_CO_DO(door_->check_patience());
  if (first_) co_return *std::exchange(first_, std::nullopt);
  co_return co_await read();
}

}  // namespace leat::store
