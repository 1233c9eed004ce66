#include "load/bench_store.h"

#include <unistd.h>

#include <utility>

#include "io/buffer_pool.h"
#include "io/uring_io.h"

namespace leat::benchmarks {
namespace {

// As `leat serve` has them by default.
constexpr std::size_t kBodyBufferBytes = 512 * kKiB;
constexpr std::size_t kBodyBuffers = 256;
constexpr std::size_t kPoolThreads = 4;
constexpr std::size_t kPoolQueueMax = 64 * kKiB;

}  // namespace

struct BenchStore::ShardParts {
  ShardParts(rt::Shard& on, std::unique_ptr<io::FileIo> files)
      : shard(on), file_io(std::move(files)), buffers(kBodyBufferBytes, kBodyBuffers) {}

  rt::Shard& shard;
  std::unique_ptr<io::FileIo> file_io;
  io::BufferPool buffers;
};

BenchStore::BenchStore(const std::string& directory, std::uint32_t shards)
    : directory_(directory),
      sink_(STDERR_FILENO),
      logger_(sink_, clock_, log::Options{.level = log::Level::warn}),
      runtime_(shards),
      pool_("bench-io", kPoolThreads, kPoolQueueMax),
      node_(disk_, programs::NodeStoreOptions{}, logger_, metrics_) {}

BenchStore::~BenchStore() = default;

Status BenchStore::open(const std::string& bucket, record::Durability durability) {
  std::vector<programs::DataDirectory> directories;
  LEAT_TRY(auto directory, programs::DataDirectory::take(disk_, directory_));
  directories.push_back(std::move(directory));
  LEAT_DO(node_.recover(std::move(directories), clock_, rng_));
  std::vector<programs::ShardTools> tools;
  for (std::uint32_t i = 0; i < runtime_.size(); ++i) {
    LEAT_TRY(auto file_io, io::UringIo::open(runtime_.shard(i)));
    parts_.push_back(std::make_unique<ShardParts>(runtime_.shard(i), std::move(file_io)));
    ShardParts& part = *parts_.back();
    tools.push_back({part.shard, clock_, rng_, *part.file_io, part.buffers, pool_, draining_});
  }
  LEAT_DO(node_.prepare(tools));
  runtime_.start();
  LEAT_DO(runtime_.on_every_shard([this](rt::Shard& shard) { return node_.start(shard); }));
  return run([&](rt::Shard& shard) { return take_bucket(shard, bucket, durability); });
}

Status BenchStore::close() {
  Status stopped = runtime_.on_every_shard([this](rt::Shard& shard) { return node_.stop(shard); });
  runtime_.stop();
  pool_.finish();
  return stopped;
}

rt::Task<void> BenchStore::take_bucket(rt::Shard& shard, std::string name,
                                       record::Durability durability) {
  if (shard.id().value() != 0) co_return Status{};
  store::ShardStore& store = on(shard);
  auto found = store.find_bucket(name);
  if (found && found->durability != durability) {
    const auto change = [durability](record::Bucket& bucket) { bucket.durability = durability; };
    auto changing = store.change_bucket(found->id, change);
    LEAT_CO_DO(co_await std::move(changing));
  }
  if (!found) {
    store::BucketOptions options{.durability = durability};
    found = co_await store.create_bucket(std::move(name), std::move(options));
  }
  if (!found) co_return fail(found.error());
  bucket_ = found->id;
  co_return Status{};
}

Status BenchStore::run(const std::function<rt::Task<void>(rt::Shard&)>& work) {
  return runtime_.on_every_shard(work);
}

namespace {

// How many of the tasks are still running, and who waits for the last.
struct Crew {
  std::size_t running = 0;
  Status first{};
  rt::Resume<void> done{};
};

}  // namespace

rt::Task<void> run_together(rt::Shard& shard, std::size_t count,
                            std::function<rt::Task<void>(std::size_t)> make) {
  auto crew = std::make_shared<Crew>();
  crew->running = count;
  for (std::size_t i = 0; i < count; ++i) {
    shard.spawn(make(i), [crew](Status ended) {
      if (!ended && crew->first) crew->first = std::move(ended);
      if (--crew->running == 0 && crew->done) crew->done(std::move(crew->first));
    });
  }
  auto ended = rt::suspend<void>([crew](rt::Resume<void> resume) {
    if (crew->running == 0) return resume(std::move(crew->first));
    crew->done = std::move(resume);
  });
  co_return co_await std::move(ended);
}

}  // namespace leat::benchmarks
