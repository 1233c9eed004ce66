#include "support/volume_world.h"

#include "base/check.h"

namespace leat::test {

volume::VolumeOptions VolumeWorld::small_options() {
  return {.small_max_bytes = 80 * kKiB,
          .file_max_bytes = 128 * kKiB,
          .segment_max_bytes = 200 * kKiB,
          .batch_max_bytes = 256 * kKiB,
          .replay_max_changes = 10,
          .reserve_bytes = 0,
          .compact_rate_bytes = 0,
          .index_cache_bytes = kMiB,
          .quiet = true};
}

VolumeWorld::VolumeWorld(std::uint64_t seed, log::Logger& logger, volume::VolumeOptions options)
    : logger_(logger), options_(options), world_(seed), rng_(seed) {
  disk_ = std::make_unique<sim::SimDisk>(world_.clock("node"), seed);
}

VolumeWorld::~VolumeWorld() {
  end_process();
}

volume::RecoveryTools VolumeWorld::recovery_tools() {
  return {.disk = *disk_, .clock = world_.clock("node"), .rng = rng_};
}

Status VolumeWorld::open() {
  LEAT_TRY(const auto identity, volume::identify(recovery_tools(), folders_, std::nullopt));
  return start(volume::recover(recovery_tools(), folders_, identity, options_));
}

Status VolumeWorld::rebuild() {
  LEAT_TRY(const auto identity, volume::identify(recovery_tools(), folders_, std::nullopt));
  LEAT_TRY(const auto names, disk_->list(folders_.index()));
  for (const std::string& name : names)
    LEAT_DO(disk_->remove(folders_.index() + '/' + name));
  return start(volume::rebuild(recovery_tools(), folders_, identity, options_));
}

Status VolumeWorld::start(Result<volume::Recovered> recovered) {
  if (!recovered) return fail(std::move(recovered).error());
  file_io_ = std::make_unique<sim::SimFileIo>(world_.timeline(), *disk_, rng_.next(),
                                              sim::FileIoOptions{});
  const volume::VolumeTools tools{.shard = world_.shard(),
                                  .disk = *disk_,
                                  .file_io = *file_io_,
                                  .pool = pool_,
                                  .clock = world_.clock("node"),
                                  .rng = rng_,
                                  .logger = logger_};
  LEAT_TRY(volume_, volume::Volume::make(tools, folders_, std::move(*recovered), options_));
  reader_ = std::make_unique<volume::VolumeReader>(*volume_, kit());
  return {};
}

volume::ShardKit VolumeWorld::kit() {
  return {.shard = world_.shard(),
          .file_io = *file_io_,
          .buffers = buffers_,
          .pool = pool_,
          .rng = rng_,
          .lookups = &lookups_};
}

void VolumeWorld::end_process() {
  if (!volume_) return;
  // What it still says has no listener any more.
  static_cast<void>(close());
}

Status VolumeWorld::close() {
  const bool idle = world_.run_until_idle();
  LEAT_CHECK(idle);
  const Status closed = world_.run(volume_->close());
  LEAT_CHECK(world_.run_until_idle());
  reader_.reset();
  volume_.reset();
  if (!closed) return fail(closed.error());
  return {};
}

void VolumeWorld::cut_power(sim::CrashOptions options) {
  kill();
  disk_->crash(options);
}

void VolumeWorld::kill() {
  take_disk(disk_->fork());
}

void VolumeWorld::take_disk(std::unique_ptr<sim::SimDisk> disk) {
  // Nobody looks at the old disk any more: that it fails spares the last flush.
  disk_->faults().add({.call = sim::DiskCall::sync, .nth = 1, .and_after = true});
  end_process();
  disk_ = std::move(disk);
}

Status VolumeWorld::crash(sim::CrashOptions options) {
  cut_power(options);
  return open();
}

Result<record::Version> VolumeWorld::put(const record::ObjectKey& object, std::string data,
                                         volume::Precondition precondition) {
  return run(put_task(object, std::move(data), std::move(precondition)));
}

rt::Task<record::Version> VolumeWorld::put_task(record::ObjectKey object, std::string data,
                                                volume::Precondition precondition) {
  const auto since = world_.clock("node").wall_now().time_since_epoch();
  volume::NewVersion fresh{.object = object};
  fresh.version.size_bytes = data.size();
  fresh.version.modified_ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  fresh.version.etag = "e" + std::to_string(std::hash<std::string>{}(data));
  if (data.size() <= options_.small_max_bytes) {
    fresh.data = record::sum_blocks({as_bytes(data)});
  } else {
    LEAT_CO_TRY(fresh.version.place, co_await write_files_task(object, data));
  }
  co_return co_await volume_->put(fresh, std::move(precondition));
}

Result<std::vector<record::FileExtent>> VolumeWorld::write_files(const record::ObjectKey& object,
                                                                 std::string_view data) {
  return run(write_files_task(object, data));
}

rt::Task<std::vector<record::FileExtent>> VolumeWorld::write_files_task(record::ObjectKey object,
                                                                        std::string_view data) {
  volume::FileWriter writer(*volume_, kit(), std::move(object));
  for (Bytes rest = as_bytes(data); !rest.empty();) {
    LEAT_CO_TRY(const MutableBytes buffer, co_await writer.next_buffer());
    const Bytes step = rest.first(std::min(rest.size(), buffer.size()));
    std::ranges::copy(step, buffer.begin());
    writer.commit(step.size());
    rest = rest.subspan(step.size());
  }
  co_return co_await writer.finish();
}

Result<std::optional<std::string>> VolumeWorld::get(const record::ObjectKey& object) {
  return run(get_task(object));
}

Result<std::optional<record::Version>> VolumeWorld::find(const record::ObjectKey& object) {
  if (auto known = reader_->recall(object)) return known;
  return run(reader_->find(object));
}

rt::Task<std::optional<std::string>> VolumeWorld::get_task(record::ObjectKey object) {
  std::optional<record::Version> version = reader_->recall(object);
  if (!version) {
    LEAT_CO_TRY(version, co_await reader_->find(object));
  }
  if (!version) co_return std::nullopt;
  const volume::ByteRange all{.offset = 0, .length = version->size_bytes};
  LEAT_CO_TRY(auto content, co_await read_task(*version, all));
  co_return std::move(content);
}

Result<std::string> VolumeWorld::read(const record::Version& version, volume::ByteRange range) {
  return run(read_task(version, range));
}

rt::Task<std::string> VolumeWorld::read_task(record::Version version, volume::ByteRange range) {
  if (volume::is_small(version)) {
    LEAT_CO_TRY(const auto content, co_await reader_->read_small(version, range));
    co_return std::string(as_text(content.bytes));
  }
  LEAT_CO_TRY(const auto source, co_await reader_->open_files(version, range));
  std::string all;
  for (;;) {
    LEAT_CO_TRY(const Bytes piece, co_await source->next());
    if (piece.empty()) co_return all;
    all += as_text(piece);
  }
}

}  // namespace leat::test
