// pread_loop: the limit of reading samples: a loop that preads them from local files into one
// buffer for each batch. Nothing else: no checksums, no order but the one that it was given.
//
// Threads take whole batches in turn, so that each batch is one piece of memory, as a training
// step wants it. Output: one line of JSON.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "load/die.h"
#include "load/figures.h"

namespace leat::benchmarks {
namespace {

// As the harness writes it.
struct Place {
  std::uint32_t file = 0;
  std::uint32_t size_bytes = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(Place) == 16);

struct Options {
  std::vector<std::string> files;
  std::string places_file;
  std::size_t batch = 256;
  std::size_t threads = 1;
  double seconds = 0;  // 0: every place once
};

std::vector<Place> read_places(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty() || bytes.size() % sizeof(Place) != 0) die("pread_loop: {} is cut", path);
  std::vector<Place> places(bytes.size() / sizeof(Place));
  std::memcpy(places.data(), bytes.data(), bytes.size());
  return places;
}

std::vector<int> open_all(const std::vector<std::string>& paths) {
  std::vector<int> files;
  for (const std::string& path : paths) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) die("pread_loop: {}: {}", path, std::strerror(errno));
    files.push_back(file);
  }
  return files;
}

class Loop {
 public:
  explicit Loop(Options options)
      : options_(std::move(options)),
        places_(read_places(options_.places_file)),
        files_(open_all(options_.files)) {}

  void run() {
    const Nanos begin = now();
    deadline_ = begin + static_cast<Nanos>(options_.seconds * kSecond);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < options_.threads; ++i)
      threads.emplace_back([this] { read_batches(); });
    threads.clear();
    elapsed_ = now() - begin;
  }

  void report() const {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds_of = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    fmt::print(R"({{"samples":{},"bytes":{},"seconds":{:.6f},"cpu_seconds":{:.6f},"check":{}}})"
               "\n",
               samples_.load(), bytes_.load(), static_cast<double>(elapsed_) / kSecond,
               seconds_of(used.ru_utime) + seconds_of(used.ru_stime), check_.load());
  }

 private:
  void read_batches() {
    std::vector<char> buffer;
    for (;;) {
      const std::uint64_t first = next_.fetch_add(options_.batch);
      if (options_.seconds > 0 ? now() >= deadline_ : first >= places_.size()) return;
      read_batch(first, buffer);
    }
  }

  void read_batch(std::uint64_t first, std::vector<char>& buffer) {
    const bool is_once = options_.seconds == 0;
    const std::uint64_t end = is_once
                                  ? std::min<std::uint64_t>(first + options_.batch, places_.size())
                                  : first + options_.batch;
    std::size_t size = 0;
    for (std::uint64_t i = first; i < end; ++i)
      size += places_[i % places_.size()].size_bytes;
    if (buffer.size() < size) buffer.resize(size);
    std::size_t at = 0;
    std::uint64_t check = 0;
    for (std::uint64_t i = first; i < end; ++i) {
      const Place& place = places_[i % places_.size()];
      read_one(place, buffer.data() + at);
      check += static_cast<unsigned char>(buffer[at]);
      at += place.size_bytes;
    }
    samples_ += end - first;
    bytes_ += size;
    check_ += check;
  }

  void read_one(const Place& place, char* target) const {
    if (place.file >= files_.size()) die("pread_loop: there is no file {}", place.file);
    const ssize_t got =
        ::pread(files_[place.file], target, place.size_bytes, static_cast<off_t>(place.offset));
    if (got != static_cast<ssize_t>(place.size_bytes)) die("pread_loop: a short read");
  }

  const Options options_;
  const std::vector<Place> places_;
  const std::vector<int> files_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> samples_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> check_ = 0;  // of first bytes: the harness knows their sum
  Nanos deadline_ = 0;
  Nanos elapsed_ = 0;
};

}  // namespace
}  // namespace leat::benchmarks

int main(int argc, char** argv) {
  using namespace leat::benchmarks;
  Options options;
  CLI::App app("reads samples from local files by pread");
  app.add_option("--file", options.files, "in the order of their numbers")->required();
  app.add_option("--places", options.places_file, "16 bytes each: file, size, offset")->required();
  app.add_option("--batch", options.batch)->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "go round the places so long; 0: once");
  CLI11_PARSE(app, argc, argv);
  Loop loop(options);
  loop.run();
  loop.report();
  return 0;
}
