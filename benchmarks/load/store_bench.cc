// store_bench: loads a store in this process, and its peers, for benchmarks.
//
// Every command prints one line of JSON: operations, seconds, rates, latencies, memory. The bytes
// of every read are checked; any failure ends the process with a line on stderr and no figure.
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "load/bench_store.h"
#include "load/peers.h"
#include "load/workload.h"

namespace leat::benchmarks {
namespace {

constexpr const char* kBucket = "bench";
constexpr std::size_t kListPage = 1000;

void must(const Status& status) {
  if (status) return;
  fmt::print(stderr, "store_bench: {}\n", status.error().detail());
  std::exit(2);
}

// What the tasks of one shard share.
class Loop {
 public:
  Loop(BenchStore& store, rt::Shard& shard, const Workload& work)
      : store_(store.on(shard)),
        bucket_(store.bucket()),
        work_(work),
        shard_(shard.id().value()),
        shards_(store.shards()),
        begin_(now()),
        deadline_(begin_ + static_cast<Nanos>(work.seconds * kSecond)) {}

  const Workload& work() const { return work_; }
  store::ShardStore& store() const { return store_; }

  // The next position that is this shard's; nothing when time or numbers have run out.
  std::optional<std::uint64_t> next() {
    const std::uint64_t position = shard_ + shards_ * taken_;
    if (work_.count > 0 && position >= work_.count) return std::nullopt;
    if (work_.seconds > 0 && now() >= deadline_) return std::nullopt;
    ++taken_;
    return position;
  }

  bool has_time() const { return work_.seconds == 0 || now() < deadline_; }

  record::ObjectKey key_of(std::uint64_t number) const {
    return {.bucket = bucket_, .key = name_of(work_, number)};
  }

  void count(std::uint64_t operations, std::uint64_t bytes, Nanos start) {
    outcome_.operations += operations;
    outcome_.bytes += bytes;
    outcome_.latencies.push_back(now() - start);
  }

  Outcome take() {
    outcome_.elapsed = now() - begin_;
    return std::move(outcome_);
  }

 private:
  store::ShardStore& store_;
  record::BucketId bucket_;
  const Workload& work_;
  std::uint64_t shard_;
  std::uint64_t shards_;
  Nanos begin_;
  Nanos deadline_;
  std::uint64_t taken_ = 0;
  Outcome outcome_;
};

rt::Task<void> put_one(Loop& loop, std::uint64_t number, std::string& content) {
  const Nanos start = now();
  stamp(content, number);
  record::ObjectKey object = loop.key_of(number);
  LEAT_CO_TRY(auto put, co_await loop.store().begin_put(std::move(object), content.size()));
  for (Bytes rest = as_bytes(content); !rest.empty();) {
    LEAT_CO_TRY(const MutableBytes room, co_await put->next_buffer());
    const Bytes step = rest.first(std::min(rest.size(), room.size()));
    std::ranges::copy(step, room.begin());
    put->commit(step.size());
    rest = rest.subspan(step.size());
  }
  store::PutDetails details;
  LEAT_CO_TRY(const auto version, co_await put->finish(std::move(details)));
  loop.count(1, content.size(), start);
  co_return Status{};
}

rt::Task<void> put_many(Loop& loop) {
  std::string content = make_content(loop.work().size);
  while (const auto position = loop.next()) {
    LEAT_CO_DO(co_await put_one(loop, loop.work().first + *position, content));
  }
  co_return Status{};
}

rt::Task<void> fill_scrambled(Loop& loop) {
  std::string content = make_content(loop.work().size);
  const Scramble scramble(loop.work());
  while (const auto position = loop.next()) {
    LEAT_CO_DO(co_await put_one(loop, scramble.at(*position), content));
  }
  co_return Status{};
}

rt::Task<void> get_one(Loop& loop, std::uint64_t number) {
  const Nanos start = now();
  record::ObjectKey object = loop.key_of(number);
  LEAT_CO_TRY(const auto found, co_await loop.store().find(std::move(object)));
  const volume::ByteRange all{.offset = 0, .length = found.version.size_bytes};
  LEAT_CO_TRY(const store::Body body, co_await loop.store().read(found, all));
  const auto* content = std::get_if<volume::Content>(&body);
  if (content == nullptr || !is_stamped(as_text(content->bytes), number)) {
    co_return fail(Errc::corrupt, fmt::format("object {} has wrong bytes", number));
  }
  loop.count(1, content->bytes.size(), start);
  co_return Status{};
}

rt::Task<void> get_many(Loop& loop, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (loop.has_time()) {
    LEAT_CO_DO(co_await get_one(loop, loop.work().first + random() % loop.work().count));
  }
  co_return Status{};
}

rt::Task<void> list_all(Loop& loop) {
  index::ListRequest request{.bucket = loop.key_of(0).bucket, .max = kListPage};
  std::uint64_t keys = 0;
  for (bool is_truncated = true; is_truncated;) {
    const Nanos start = now();
    index::ListRequest page_request = request;
    LEAT_CO_TRY(const auto page, co_await loop.store().list(std::move(page_request)));
    is_truncated = page.is_truncated;
    keys += page.items.size();
    if (!page.items.empty()) request.after = page.items.back().name;
    loop.count(page.items.size(), 0, start);
  }
  if (loop.work().count > 0 && keys != loop.work().count) {
    co_return fail(Errc::corrupt,
                   fmt::format("{} keys were listed, not {}", keys, loop.work().count));
  }
  co_return Status{};
}

// One task of a command, of so many on its shard.
using Make = std::function<rt::Task<void>(Loop&, std::size_t)>;

Outcome run_on_shards(BenchStore& store, const Workload& work, const Make& make) {
  std::vector<Loop> loops;
  for (std::uint32_t i = 0; i < store.shards(); ++i)
    loops.emplace_back(store, store.shard(i), work);
  must(store.run([&](rt::Shard& shard) {
    Loop& loop = loops[shard.id().value()];
    // The tasks are spread over the shards in turn.
    const std::size_t before = shard.id().value();
    const std::size_t tasks = (work.tasks + store.shards() - 1 - before) / store.shards();
    return run_together(shard, tasks, [&](std::size_t i) { return make(loop, i); });
  }));
  Outcome sum;
  for (Loop& loop : loops)
    sum.add(loop.take());
  return sum;
}

void run_in_store(const Workload& work, record::Durability durability, const Make& make) {
  BenchStore store(work.directory, work.cores);
  must(store.open(kBucket, durability));
  Outcome outcome = run_on_shards(store, work, make);
  must(store.close());
  report(std::move(outcome));
}

void run_put(const Workload& work) {
  run_in_store(work, record::Durability::sync,
               [](Loop& loop, std::size_t) { return put_many(loop); });
}

void run_fill(const Workload& work) {
  run_in_store(work, record::Durability::relaxed,
               [](Loop& loop, std::size_t) { return fill_scrambled(loop); });
}

// Writes like fill, and dies as if by kill -9 with the last changes in no file of the index.
void run_crash(const Workload& work) {
  BenchStore store(work.directory, work.cores);
  must(store.open(kBucket, record::Durability::relaxed));
  report(run_on_shards(store, work, [](Loop& loop, std::size_t) { return fill_scrambled(loop); }));
  std::fflush(stdout);
  std::raise(SIGKILL);
}

void run_get(const Workload& work) {
  run_in_store(work, record::Durability::sync,
               [](Loop& loop, std::size_t i) { return get_many(loop, i + 1); });
}

void run_list(const Workload& work) {
  Workload one = work;
  one.tasks = 1;
  one.cores = 1;
  run_in_store(one, record::Durability::sync,
               [](Loop& loop, std::size_t) { return list_all(loop); });
}

}  // namespace
}  // namespace leat::benchmarks

int main(int argc, char** argv) {
  using namespace leat::benchmarks;
  struct Command {
    const char* help;
    std::function<void(const Workload&)> run;
  };
  const std::map<std::string, Command> commands = {
      {"put", {"durable puts into a store", run_put}},
      {"fill",
       {"many objects, quickly, in an order that is not theirs; then a checkpoint", run_fill}},
      {"crash", {"fill, and then die without a checkpoint", run_crash}},
      {"get", {"random reads of --count objects", run_get}},
      {"list", {"all keys in pages of 1000; --count says how many there must be", run_list}},
      {"files-put",
       {"durable puts as one file each", [](const Workload& work) { report(put_files(work)); }}},
      {"files-fill",
       {"the objects as files, without syncs",
        [](const Workload& work) { report(fill_files(work)); }}},
      {"rocksdb-put",
       {"durable puts into RocksDB", [](const Workload& work) { report(put_rocksdb(work)); }}},
  };
  Workload work;
  CLI::App app("loads a store in this process, and its peers");
  app.require_subcommand(1);
  for (const auto& [name, command] : commands) {
    CLI::App* sub = app.add_subcommand(name, command.help);
    sub->add_option("--dir", work.directory)->required();
    sub->add_option("--prefix", work.prefix, "of every name");
    sub->add_option("--size", work.size, "bytes of each object");
    sub->add_option("--first", work.first, "number of the first object");
    sub->add_option("--count", work.count, "objects");
    sub->add_option("--seconds", work.seconds, "how long, at most");
    sub->add_option("--tasks", work.tasks, "how many at a time")->check(CLI::PositiveNumber);
    sub->add_option("--cores", work.cores, "shards; 0: one for each core");
    sub->callback([&work, &command] { command.run(work); });
  }
  CLI11_PARSE(app, argc, argv);
  return 0;
}
