#include "load/peers.h"

#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

namespace leat::benchmarks {
namespace {

[[noreturn]] void die(const std::string& what) {
  fmt::print(stderr, "store_bench: {}\n", what);
  std::exit(2);
}

void must(bool done, std::string_view what, const std::string& path) {
  if (!done) die(fmt::format("{} {}: {}", what, path, std::strerror(errno)));
}

using PutOne = std::function<void(std::uint64_t number, std::string& content)>;

// Threads that take the next number each until time or numbers run out.
Outcome run_threads(const Workload& work, const PutOne& put) {
  std::atomic<std::uint64_t> next{0};
  std::vector<Outcome> outcomes(work.tasks);
  const Nanos begin = now();
  const Nanos deadline = begin + static_cast<Nanos>(work.seconds * kSecond);
  const auto loop = [&](Outcome& outcome) {
    std::string content = make_content(work.size);
    for (;;) {
      const std::uint64_t position = next++;
      if (work.count > 0 && position >= work.count) break;
      const Nanos start = now();
      if (work.seconds > 0 && start >= deadline) break;
      stamp(content, work.first + position);
      put(work.first + position, content);
      ++outcome.operations;
      outcome.bytes += work.size;
      outcome.latencies.push_back(now() - start);
    }
  };
  std::vector<std::thread> threads;
  for (Outcome& outcome : outcomes)
    threads.emplace_back([&loop, &outcome] { loop(outcome); });
  for (std::thread& thread : threads)
    thread.join();
  Outcome sum;
  for (Outcome& outcome : outcomes)
    sum.add(std::move(outcome));
  sum.elapsed = now() - begin;
  return sum;
}

void write_file(const std::string& path, const std::string& content, bool durable) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  must(file >= 0, "open", path);
  const ssize_t written = ::write(file, content.data(), content.size());
  must(written == static_cast<ssize_t>(content.size()), "write", path);
  if (durable) must(::fdatasync(file) == 0, "fdatasync", path);
  ::close(file);
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) die(fmt::format("mkdir {}: {}", folder, error.message()));
}

void sync_folder(const std::string& folder) {
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  must(directory >= 0, "open", folder);
  must(::fsync(directory) == 0, "fsync", folder);
  ::close(directory);
}

}  // namespace

Outcome put_files(const Workload& work) {
  return run_threads(work, [&work](std::uint64_t number, std::string& content) {
    const std::string path = work.directory + "/" + name_of(work, number);
    const std::string folder = folder_of(path);
    if (number % 1000 == 0 || ::access(folder.c_str(), F_OK) != 0) make_folder(folder);
    const std::string temporary = path + ".tmp";
    write_file(temporary, content, true);
    must(::rename(temporary.c_str(), path.c_str()) == 0, "rename", path);
    sync_folder(folder);
  });
}

Outcome fill_files(const Workload& work) {
  for (std::uint64_t number = work.first; number < work.first + work.count; number += 1000)
    make_folder(folder_of(work.directory + "/" + name_of(work, number)));
  return run_threads(work, [&work](std::uint64_t number, std::string& content) {
    write_file(work.directory + "/" + name_of(work, number), content, false);
  });
}

Outcome put_rocksdb(const Workload& work) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = 256ULL << 20;
  options.max_write_buffer_number = 4;
  options.max_background_jobs = 2;
  options.wal_bytes_per_sync = 0;
  options.recycle_log_file_num = 4;  // no new extents while a log is written anew
  options.enable_blob_files = true;
  options.min_blob_size = 4096;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, work.directory, &opened);
  if (!status.ok()) die(status.ToString());
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions durable;
  durable.sync = true;
  Outcome outcome = run_threads(work, [&](std::uint64_t number, std::string& content) {
    const rocksdb::Status put = db->Put(durable, name_of(work, number), content);
    if (!put.ok()) die(put.ToString());
  });
  const rocksdb::Status closed = db->Close();
  if (!closed.ok()) die(closed.ToString());
  return outcome;
}

}  // namespace leat::benchmarks
