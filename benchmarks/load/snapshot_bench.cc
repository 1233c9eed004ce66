// snapshot_bench: makes snapshots of synthetic samples, and opens and searches them as a training
// process does: mapped, nothing read ahead.
//
// A command prints one line of JSON. Every look-up is checked: a wrong answer ends the process.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "load/die.h"
#include "load/figures.h"
#include "snapshot/builder.h"
#include "snapshot/lookup.h"
#include "snapshot/view.h"

namespace leat::benchmarks {
namespace {

constexpr std::uint64_t kSamplesPerShard = 10'000;
constexpr std::uint64_t kSamplesPerClass = 1300;
constexpr std::uint64_t kBlock = 512;

std::uint64_t padded(std::uint64_t size) {
  return (size + kBlock - 1) / kBlock * kBlock;
}

// ImageNet's shape: a thousand classes and more, images of about 110 KB, a short label.
std::string key_of(std::uint64_t number) {
  const std::uint64_t group = number / kSamplesPerClass;
  return fmt::format("n{:05}/n{:05}_{:08}", group, group, number);
}

std::uint64_t image_bytes_of(std::uint64_t number) {
  return 20'000 + number * 7919 % 180'000;
}

template <class T>
T must(Result<T> result) {
  if (!result) die("snapshot_bench: {}", result.error().detail());
  return *std::move(result);
}

void must(const Status& status) {
  if (!status) die("snapshot_bench: {}", status.error().detail());
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void build(const std::string& path, std::uint64_t count) {
  const Nanos begin = now();
  snapshot::Builder builder;
  std::uint64_t offset = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % kSamplesPerShard == 0) {
      offset = 0;
      must(builder.begin_shard({.bucket = "train",
                                .key = fmt::format("{:06}.tar", i / kSamplesPerShard),
                                .version = "1",
                                .etag = fmt::format("{:032x}", i),
                                .size_bytes = kSamplesPerShard * 200'000}));
    }
    const std::uint64_t image = image_bytes_of(i);
    const std::uint64_t label = offset + kBlock + padded(image) + kBlock;
    const std::array<snapshot::FieldOf, 2> fields = {
        snapshot::FieldOf{.name = "jpg", .place = {.offset = offset + kBlock, .size_bytes = image}},
        snapshot::FieldOf{.name = "cls", .place = {.offset = label, .size_bytes = 3}}};
    must(builder.add_sample(key_of(i), offset, label + kBlock, fields));
    offset = label + kBlock;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::uint64_t size = must(builder.finish([&](std::string_view bytes) -> Status {
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file ? Status{} : fail(Errc::io, "cannot write the snapshot");
  }));
  file.close();
  if (!file) die("snapshot_bench: cannot write {}", path);
  fmt::print(R"({{"samples":{},"bytes":{},"seconds":{:.6f},"rss_bytes":{}}})"
             "\n",
             count, size, static_cast<double>(now() - begin) / kSecond, resident_bytes());
}

class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (file < 0 || ::fstat(file, &about) != 0) die("snapshot_bench: cannot open {}", path);
    size_ = static_cast<std::size_t>(about.st_size);
    address_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (address_ == MAP_FAILED) die("snapshot_bench: mmap: {}", std::strerror(errno));
  }
  ~Mapping() { ::munmap(address_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  Bytes bytes() const { return {static_cast<const std::byte*>(address_), size_}; }

 private:
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

void check_sample(const snapshot::Sample& sample, std::uint64_t number) {
  if (sample.row != number || sample.fields[0]->size_bytes != image_bytes_of(number)) {
    die("snapshot_bench: sample {} has a wrong place", number);
  }
}

// What a client reads that does not hold the snapshot.
struct Remote {
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
};

Remote look_up_remotely(const snapshot::Catalog& catalog, Bytes whole, std::uint64_t number) {
  Remote remote;
  snapshot::Lookup lookup(catalog, key_of(number));
  while (const auto range = must(lookup.next())) {
    ++remote.reads;
    remote.bytes += range->size_bytes;
    must(lookup.feed(whole.subspan(range->offset, range->size_bytes)));
  }
  if (!lookup.found()) die("snapshot_bench: sample {} is not found remotely", number);
  check_sample(*lookup.found(), number);
  return remote;
}

void search(const std::string& path, std::uint64_t lookups, std::uint64_t seed) {
  const std::uint64_t before = resident_bytes();
  const Nanos begin = now();
  const Mapping mapping(path);
  const snapshot::View view = must(snapshot::View::open(mapping.bytes()));
  const std::uint64_t count = view.sample_count();
  const Nanos opened = now();
  const std::uint64_t after = resident_bytes();

  std::mt19937_64 random(seed);
  check_sample(must(view.sample(*must(view.find(key_of(0))))), 0);
  const Nanos first = now();
  for (std::uint64_t i = 0; i < lookups; ++i) {
    const std::uint64_t number = random() % count;
    const auto row = must(view.find(key_of(number)));
    if (!row) die("snapshot_bench: sample {} is not found", number);
    check_sample(must(view.sample(*row)), number);
  }
  const Nanos looked = now();
  Remote remote;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Remote one = look_up_remotely(view.catalog(), mapping.bytes(), random() % count);
    remote.reads = std::max(remote.reads, one.reads);
    remote.bytes = std::max(remote.bytes, one.bytes);
  }
  fmt::print(R"({{"samples":{},"open_ms":{:.4f},"first_ms":{:.4f},"opened_bytes":{},)"
             R"("lookups_per_s":{:.1f},"remote_reads":{},"remote_bytes":{}}})"
             "\n",
             count, static_cast<double>(opened - begin) / 1e6,
             static_cast<double>(first - begin) / 1e6, after - std::min(after, before),
             static_cast<double>(lookups) * kSecond / static_cast<double>(looked - first),
             remote.reads, remote.bytes);
}

}  // namespace
}  // namespace leat::benchmarks

int main(int argc, char** argv) {
  using namespace leat::benchmarks;
  std::string path;
  std::uint64_t count = 0;
  std::uint64_t lookups = 100'000;
  std::uint64_t seed = 1;
  CLI::App app("makes, opens and searches snapshots");
  app.require_subcommand(1);
  CLI::App* making = app.add_subcommand("build", "writes a snapshot of synthetic samples");
  making->add_option("--file", path)->required();
  making->add_option("--count", count)->required();
  making->callback([&] { build(path, count); });
  CLI::App* searching = app.add_subcommand("search", "opens one and looks samples up by key");
  searching->add_option("--file", path)->required();
  searching->add_option("--lookups", lookups);
  searching->add_option("--seed", seed);
  searching->callback([&] { search(path, lookups, seed); });
  CLI11_PARSE(app, argc, argv);
  return 0;
}
