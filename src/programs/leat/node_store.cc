#include "leat/node_store.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::programs {

struct NodeStore::OpenDisk {
  DataDirectory directory;
  volume::Folders folders;
  record::Identity identity{};
  std::unique_ptr<volume::Recovered> recovered{};  // until its volume is made
  rt::Shard* home = nullptr;
  std::unique_ptr<volume::Volume> volume{};
  std::unique_ptr<volume::Caretaker> caretaker{};

  rt::Task<void> start();
  rt::Task<void> close();
};

rt::Task<void> NodeStore::OpenDisk::start() {
  caretaker->start();
  co_return Status{};
}

rt::Task<void> NodeStore::OpenDisk::close() {
  LEAT_CO_DO(co_await caretaker->stop());
  co_return co_await volume->close();
}

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

constexpr std::string_view kLookupsHelp =
    "Look-ups of objects, by what answered: memory of an earlier one, or the index.";

// One change of the set at a time.
constexpr std::string_view kChanging = "disks";

// Disks get keys in proportion to their size.
std::uint32_t weight_of(const volume::Volume& volume) {
  const std::uint64_t gib = volume.space().total_bytes / kGiB;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(gib, 1, 1'000'000));
}

store::Disk disk_of(volume::Volume& volume, rt::Shard& home) {
  return {.home = &home, .volume = &volume, .weight = weight_of(volume)};
}

}  // namespace

NodeStore::NodeStore(io::Disk& disk, NodeStoreOptions options, log::Logger& logger,
                     metrics::Registry& metrics)
    : disk_(disk),
      options_(options),
      logger_(logger),
      metrics_(metrics),
      lookup_metrics_{
          .hits = metrics.counter("leat_store_lookups_total", kLookupsHelp, {{"from", "memory"}}),
          .misses = metrics.counter("leat_store_lookups_total", kLookupsHelp, {{"from", "index"}}),
          .bytes = metrics.gauge("leat_store_lookup_cache_bytes",
                                 "Memory that remembers where objects are.")} {}

NodeStore::~NodeStore() = default;

Result<std::unique_ptr<NodeStore::OpenDisk>> NodeStore::open_disk(DataDirectory directory,
                                                                  io::Clock& clock, io::Rng& rng) {
  const std::string path = directory.path();
  const volume::RecoveryTools tools{.disk = disk_, .clock = clock, .rng = rng};
  const Instant began = clock.now();
  auto one = std::make_unique<OpenDisk>(
      OpenDisk{.directory = std::move(directory), .folders = volume::Folders(path)});
  auto identity = volume::identify(tools, one->folders, node_);
  if (!identity) return fail(explain(path, identity.error()));
  one->identity = *identity;
  for (const auto& other : disks_) {
    if (other->identity.disk == identity->disk) {
      return fail(Errc::conflict,
                  fmt::format("{} and {} are the same disk", path, other->folders.root()));
    }
  }
  auto recovered = volume::recover(tools, one->folders, *identity, options_.volume);
  if (!recovered) return fail(explain(path, recovered.error()));
  logger_.info("opened", {{"disk", path},
                          {"id", record::to_hex(identity->disk)},
                          {"replayed_changes", recovered->replayed},
                          {"torn_bytes", recovered->torn_bytes},
                          {"took", clock.now() - began}});
  one->recovered = std::make_unique<volume::Recovered>(std::move(*recovered));
  return one;
}

Status NodeStore::recover(std::vector<DataDirectory> directories, io::Clock& clock, io::Rng& rng) {
  for (DataDirectory& directory : directories) {
    LEAT_TRY(auto one, open_disk(std::move(directory), clock, rng));
    node_ = one->identity.node;
    disks_.push_back(std::move(one));
  }
  return {};
}

Status NodeStore::make_volume(OpenDisk& one, const ShardTools& tools) {
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
  return {};
}

const ShardTools& NodeStore::next_home() const {
  return *std::ranges::min_element(shards_, {}, [this](const ShardTools& tools) {
    return std::ranges::count(disks_, &tools.shard, &OpenDisk::home);
  });
}

Status NodeStore::prepare(std::span<const ShardTools> shards) {
  for (const ShardTools& tools : shards)
    shards_.push_back(tools);
  for (const auto& one : disks_) {
    LEAT_DO(make_volume(*one, next_home()));
    store_.add(disk_of(*one->volume, *one->home));
  }
  for (const ShardTools& tools : shards) {
    pins_.push_back(std::make_unique<volume::Pins>(options_.pinned_max_bytes / shards.size()));
    volume::ShardKit kit = kit_of(tools);
    kit.pins = pins_.back().get();
    lookups_.push_back(std::make_unique<volume::LookupCache>(
        options_.lookup_cache_bytes / shards.size(), &lookup_metrics_));
    kit.lookups = lookups_.back().get();
    shard_stores_.push_back(std::make_unique<store::ShardStore>(store_, kit, tools.clock));
    store_.add(*shard_stores_.back());
  }
  const expiry::SweeperTools tools{
      .clock = shards.front().clock, .logger = logger_, .metrics = metrics_};
  sweeper_ = std::make_unique<expiry::Sweeper>(store_.desk(), tools, options_.sweeper);
  return {};
}

void NodeStore::report(const store::Arrival& arrival) {
  if (arrival.doubles > 0) {
    logger_.warn("keys were on two disks; the newer versions stay", {{"keys", arrival.doubles}});
  }
  for (const std::string& name : arrival.hidden_buckets) {
    logger_.warn("an old bucket of this name is hidden: it was made again while a disk was away",
                 {{"bucket", name}});
  }
}

rt::Task<void> NodeStore::start(rt::Shard& shard) {
  if (&shard == &store_.desk().shard()) {
    LEAT_CO_TRY(const store::Arrival arrival, co_await store_.open(options_.missing));
    report(arrival);
    sweeper_->start();
  }
  for (const auto& one : disks_) {
    if (one->home == &shard) one->caretaker->start();
  }
  co_return Status{};
}

rt::Task<void> NodeStore::stop(rt::Shard& shard) {
  // Before any disk closes, whichever shard comes first.
  auto stopping = rt::ask<void>(shard, store_.desk().shard(), [this] { return sweeper_->stop(); });
  Status first = co_await std::move(stopping);
  for (const auto& one : disks_) {
    if (one->home != &shard || !one->caretaker) continue;
    const Status closed = co_await one->close();
    if (!closed && first) first = fail(closed.error());
  }
  co_return first;
}

rt::Task<store::Arrival> NodeStore::add_disk(std::string path, rt::Shard& from) {
  auto added = rt::ask<store::Arrival>(from, store_.desk().shard(),
                                       [this, &path] { return add_at_desk(path); });
  co_return co_await std::move(added);
}

rt::Task<void> NodeStore::remove_disk(std::string name, Duration patience, rt::Shard& from) {
  auto removed = rt::ask<void>(from, store_.desk().shard(),
                               [this, &name, patience] { return remove_at_desk(name, patience); });
  co_return co_await std::move(removed);
}

// Closing and starting must happen: a mailbox that is full is tried again.
rt::Task<void> NodeStore::tell(OpenDisk& one, rt::Task<void> (OpenDisk::*what)()) {
  for (;;) {
    auto asked =
        rt::ask<void>(store_.desk().shard(), *one.home, [&one, what] { return (one.*what)(); });
    Status done = co_await std::move(asked);
    if (done || done.error().code() != Errc::busy) co_return done;
    LEAT_CO_DO(co_await rt::yield());
  }
}

// Letting go of an index waits for its threads and files: not on a shard.
rt::Task<void> NodeStore::destroy(std::unique_ptr<OpenDisk> one) {
  auto destroyed = shards_.front().pool.run<void>([&one]() -> Status {
    one.reset();
    return {};
  });
  co_return co_await std::move(destroyed);
}

rt::Task<store::Arrival> NodeStore::add_at_desk(std::string path) {
  LEAT_CO_TRY(const auto held, co_await changing_.acquire(std::string(kChanging)));
  const ShardTools& tools = next_home();
  using Opened = std::unique_ptr<OpenDisk>;
  auto opening = tools.pool.run<Opened>([this, &path, &tools]() -> Result<Opened> {
    LEAT_TRY(auto directory, DataDirectory::take(disk_, path));
    LEAT_TRY(auto one, open_disk(std::move(directory), tools.clock, tools.rng));
    LEAT_DO(make_volume(*one, tools));
    return one;
  });
  LEAT_CO_TRY(Opened one, co_await std::move(opening));
  auto arrived = co_await store_.bring_in(disk_of(*one->volume, *one->home));
  if (!arrived) {
    const Status closed = co_await tell(*one, &OpenDisk::close);
    if (!closed) {
      logger_.error("a disk was not flushed", {{"disk", path}, {"error", closed.error()}});
    }
    LEAT_CO_DO(co_await destroy(std::move(one)));
    co_return fail(arrived.error());
  }
  OpenDisk& added = *one;
  disks_.push_back(std::move(one));
  LEAT_CO_DO(co_await tell(added, &OpenDisk::start));
  report(*arrived);
  logger_.info("disk added", {{"disk", path}, {"id", record::to_hex(added.identity.disk)}});
  co_return arrived;
}

rt::Task<void> NodeStore::remove_at_desk(std::string name, Duration patience) {
  LEAT_CO_TRY(const auto held, co_await changing_.acquire(std::string(kChanging)));
  const auto found = std::ranges::find_if(disks_, [&name](const auto& one) {
    return one->folders.root() == name || record::to_hex(one->identity.disk) == name;
  });
  if (found == disks_.end()) {
    co_return fail(Errc::not_found, fmt::format("no disk '{}' is in service", name));
  }
  OpenDisk& leaving = **found;
  LEAT_CO_DO(co_await store_.take_out(leaving.identity.disk, patience));
  const Status closed = co_await tell(leaving, &OpenDisk::close);
  // A disk that failed cannot be flushed: what it had acknowledged is in its segments.
  if (!closed) logger_.error("a disk was not flushed", {{"disk", name}, {"error", closed.error()}});
  logger_.info("disk removed",
               {{"disk", leaving.folders.root()}, {"id", record::to_hex(leaving.identity.disk)}});
  const auto place = std::ranges::find(disks_, &leaving, &std::unique_ptr<OpenDisk>::get);
  std::unique_ptr<OpenDisk> gone = std::move(*place);
  disks_.erase(place);
  co_return co_await destroy(std::move(gone));
}

Result<NodeStoreOptions> store_options(const config::Config& settings) {
  NodeStoreOptions options;
  options.volume.small_max_bytes = settings.bytes("store.small_max_bytes");
  options.volume.group_window = settings.duration("store.group_window");
  options.volume.relaxed_window = settings.duration("store.relaxed_window");
  options.volume.full_percent = static_cast<std::uint32_t>(settings.integer("store.full_percent"));
  options.volume.index_cache_bytes = settings.bytes("store.index_cache_bytes");
  options.volume.compact_rate_bytes = settings.bytes("store.compact_rate_bytes");
  options.lookup_cache_bytes = settings.bytes("store.lookup_cache_bytes");
  options.pinned_max_bytes = settings.bytes("store.pinned_max_bytes");
  options.caretaker.scrub_rate_bytes = settings.bytes("store.scrub_rate_bytes");
  options.caretaker.scrub_pause = settings.duration("store.scrub_pause");
  options.sweeper.day = settings.duration("s3.lifecycle_day");
  if (options.sweeper.day < std::chrono::milliseconds(1)) {
    return fail(Errc::bad_request, "s3.lifecycle_day must be at least 1ms");
  }
  if (options.volume.small_max_bytes > 4 * kMiB) {
    return fail(Errc::bad_request, "store.small_max_bytes must be at most 4MiB");
  }
  if (options.volume.full_percent < 10 || options.volume.full_percent > 99) {
    return fail(Errc::bad_request, "store.full_percent must be 10…99");
  }
  for (const std::uint64_t rate :
       {options.volume.compact_rate_bytes, options.caretaker.scrub_rate_bytes}) {
    if (rate > 0 && rate < kMiB) {
      return fail(Errc::bad_request, "store.…_rate_bytes is 0 or at least 1MiB");
    }
  }
  options.volume.relief_percent = options.volume.full_percent - 2;
  return options;
}

}  // namespace leat::programs
