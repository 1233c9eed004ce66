#include "leat/node_store.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::programs {

struct NodeStore::OpenDisk {
  volume::Folders folders;
  record::Identity identity{};
  std::unique_ptr<volume::Recovered> recovered{};  // until prepare()
  rt::Shard* home = nullptr;
  std::unique_ptr<volume::Volume> volume{};
  std::unique_ptr<volume::Caretaker> caretaker{};
};

namespace {

Error explain(const std::string& directory, const Error& error) {
  std::string text = fmt::format("{} cannot be opened: {}", directory, error.detail());
  if (error.code() == Errc::corrupt) {
    text += fmt::format(
        "\n  leat fsck {}            says what is damaged"
        "\n  leat fsck --rebuild {}  makes the index anew from the data",
        directory, directory);
  }
  return Error(error.code(), std::move(text));
}

volume::ShardKit kit_of(const ShardTools& tools) {
  return {.shard = tools.shard,
          .file_io = tools.file_io,
          .buffers = tools.body_buffers,
          .pool = tools.pool,
          .rng = tools.rng};
}

// Disks get keys in proportion to their size.
std::uint32_t weight_of(const volume::Volume& volume) {
  const std::uint64_t gib = volume.space().total_bytes / kGiB;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(gib, 1, 1'000'000));
}

}  // namespace

NodeStore::NodeStore(io::Disk& disk, std::vector<std::string> directories, NodeStoreOptions options,
                     log::Logger& logger, metrics::Registry& metrics)
    : disk_(disk),
      directories_(std::move(directories)),
      options_(options),
      logger_(logger),
      metrics_(metrics) {}

NodeStore::~NodeStore() = default;

Status NodeStore::recover(io::Clock& clock, io::Rng& rng) {
  const volume::RecoveryTools tools{.disk = disk_, .clock = clock, .rng = rng};
  std::optional<record::DiskId> node;
  for (const std::string& directory : directories_) {
    auto one = std::make_unique<OpenDisk>(OpenDisk{.folders = volume::Folders(directory)});
    const Instant began = clock.now();
    auto identity = volume::identify(tools, one->folders, node);
    if (!identity) return fail(explain(directory, identity.error()));
    one->identity = *identity;
    node = identity->node;
    for (const auto& other : disks_) {
      if (other->identity.disk == identity->disk) {
        return fail(Errc::conflict,
                    fmt::format("{} and {} are the same disk", directory, other->folders.root()));
      }
    }
    auto recovered = volume::recover(tools, one->folders, *identity, options_.volume);
    if (!recovered) return fail(explain(directory, recovered.error()));
    logger_.info("opened", {{"disk", directory},
                            {"id", record::to_hex(identity->disk)},
                            {"replayed_changes", recovered->replayed},
                            {"torn_bytes", recovered->torn_bytes},
                            {"took", clock.now() - began}});
    one->recovered = std::make_unique<volume::Recovered>(std::move(*recovered));
    disks_.push_back(std::move(one));
  }
  return {};
}

Status NodeStore::prepare(std::span<const ShardTools> shards) {
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    OpenDisk& one = *disks_[i];
    const ShardTools& tools = shards[i % shards.size()];
    const volume::VolumeTools volume_tools{.shard = tools.shard,
                                           .disk = disk_,
                                           .file_io = tools.file_io,
                                           .pool = tools.pool,
                                           .clock = tools.clock,
                                           .rng = tools.rng,
                                           .logger = logger_};
    LEAT_TRY(one.volume, volume::Volume::make(volume_tools, one.folders, std::move(*one.recovered),
                                              options_.volume));
    one.recovered.reset();
    one.home = &tools.shard;
    const volume::CaretakerTools care{
        .shard = tools.shard, .clock = tools.clock, .logger = logger_, .metrics = metrics_};
    one.caretaker =
        std::make_unique<volume::Caretaker>(*one.volume, kit_of(tools), care, options_.caretaker);
    store_.add(store::Disk{
        .home = &tools.shard, .volume = one.volume.get(), .weight = weight_of(*one.volume)});
  }
  for (const ShardTools& tools : shards) {
    pins_.push_back(std::make_unique<volume::Pins>(options_.pinned_max_bytes / shards.size()));
    volume::ShardKit kit = kit_of(tools);
    kit.pins = pins_.back().get();
    shard_stores_.push_back(std::make_unique<store::ShardStore>(store_, kit, tools.clock));
    store_.add(*shard_stores_.back());
  }
  return {};
}

rt::Task<void> NodeStore::start(rt::Shard& shard) {
  if (&shard == &store_.bucket_home()) {
    LEAT_CO_DO(co_await store_.agree_on_buckets());
  }
  for (const auto& one : disks_) {
    if (one->home == &shard) one->caretaker->start();
  }
  co_return Status{};
}

rt::Task<void> NodeStore::stop(rt::Shard& shard) {
  Status first;
  for (const auto& one : disks_) {
    if (one->home != &shard || !one->caretaker) continue;
    LEAT_CO_DO(co_await one->caretaker->stop());
    const Status closed = co_await one->volume->close();
    if (!closed && first) first = fail(closed.error());
  }
  co_return first;
}

Result<NodeStoreOptions> store_options(const config::Config& settings) {
  NodeStoreOptions options;
  options.volume.small_max_bytes = settings.bytes("store.small_max_bytes");
  options.volume.group_window = settings.duration("store.group_window");
  options.volume.full_percent = static_cast<std::uint32_t>(settings.integer("store.full_percent"));
  options.volume.index_cache_bytes = settings.bytes("store.index_cache_bytes");
  options.pinned_max_bytes = settings.bytes("store.pinned_max_bytes");
  options.caretaker.scrub_rate_bytes = settings.bytes("store.scrub_rate_bytes");
  options.caretaker.scrub_pause = settings.duration("store.scrub_pause");
  if (options.volume.small_max_bytes > 4 * kMiB) {
    return fail(Errc::bad_request, "store.small_max_bytes must be at most 4MiB");
  }
  if (options.volume.full_percent < 10 || options.volume.full_percent > 99) {
    return fail(Errc::bad_request, "store.full_percent must be 10…99");
  }
  options.volume.relief_percent = options.volume.full_percent - 2;
  return options;
}

}  // namespace leat::programs
