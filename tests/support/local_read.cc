// leat_local_read URL cat BUCKET/KEY ETAG: an object's bytes through client/local, to stdout.
// leat_local_read URL time BUCKET/KEY RANGE_BYTES ROUNDS: reads all of it in ranges, through
// client/local and by ranged GETs on one connection, in turns; prints MB/s and the CPU seconds of
// this process per GiB. The key is in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "io/clock.h"
#include "io/tcp_network.h"
#include "local/local_shards.h"
#include "s3client/operations.h"
#include "support/run_task.h"

namespace {

using namespace leat;
using s3client::ObjectName;
using testing::run_task;

constexpr std::size_t kCatBytes = 1'000'000;  // no multiple of a block, so that edges are read, too

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

int complain(const Error& error) {
  fmt::print(stderr, "{}\n", error.message());
  return 1;
}

// A client, and the shard that it runs on while it is asked something.
struct Client {
  explicit Client(std::string_view url)
      : http({shard, network, clock, watchdog, rng},
             {.endpoint = s3client::parse_endpoint(url).value(),
              .signer = {.access_key = environment("AWS_ACCESS_KEY_ID"),
                         .secret = environment("AWS_SECRET_ACCESS_KEY"),
                         .region = "leat"}}) {
    shard.spawn(watchdog.run(), [](const Status&) {});
    shard.spawn(http.run(), [](const Status&) {});
  }

  rt::Shard shard{rt::ShardId(0)};
  io::RealClock clock;
  io::SystemRng rng;
  io::TcpNetwork network{shard, {}};
  io::Watchdog watchdog{clock, std::chrono::milliseconds(100)};
  s3client::S3Client http;
  local::LocalShards local{shard, watchdog, http};
};

Status cat(const local::LocalObject& object) {
  std::string buffer(kCatBytes, '\0');
  for (std::uint64_t offset = 0; offset < object.size_bytes(); offset += kCatBytes) {
    const auto count = std::min<std::uint64_t>(kCatBytes, object.size_bytes() - offset);
    LEAT_DO(object.read(offset, std::as_writable_bytes(std::span(buffer)).first(count)));
    std::fwrite(buffer.data(), 1, count, stdout);
  }
  return {};
}

rt::Task<void> get(s3client::S3Client& client, s3client::GetQuery query, MutableBytes target) {
  LEAT_CO_TRY(auto response, co_await s3client::open_object(client, query));
  while (!target.empty()) {
    LEAT_CO_TRY(const std::size_t count, co_await response.read(target));
    if (count == 0) co_return fail(Errc::closed, "cut");
    target = target.subspan(count);
  }
  std::array<std::byte, 1> behind{};
  LEAT_CO_DO(co_await response.read(behind));  // its end, so that the connection is used again
  co_return Status{};
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

template <class Read>
Status time_ranges(std::string_view name, std::uint64_t size, std::size_t range, Read read) {
  std::string buffer(range, '\0');
  const double cpu = cpu_seconds();
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t offset = 0; offset < size; offset += range) {
    const auto count = std::min<std::uint64_t>(range, size - offset);
    LEAT_DO(read(offset, std::as_writable_bytes(std::span(buffer)).first(count)));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const double gib = static_cast<double>(size) / static_cast<double>(kGiB);
  fmt::print("{:6} {:7.0f} MB/s {:6.3f} CPU s/GiB\n", name,
             static_cast<double>(size) / 1e6 / took.count(), (cpu_seconds() - cpu) / gib);
  return {};
}

Status time_both(Client& client, const local::LocalObject& object, const ObjectName& name,
                 std::size_t range, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    LEAT_DO(time_ranges(
        "local", object.size_bytes(), range,
        [&](std::uint64_t offset, MutableBytes target) { return object.read(offset, target); }));
    LEAT_DO(time_ranges(
        "http", object.size_bytes(), range, [&](std::uint64_t offset, MutableBytes target) {
          s3client::GetQuery query{.name = name, .offset = offset, .length = target.size()};
          return run_task(client.shard, get(client.http, std::move(query), target));
        }));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string verb = argv[2];
  const std::string text = argv[3];
  const std::size_t slash = text.find('/');
  const ObjectName name{text.substr(0, slash), text.substr(slash + 1)};
  Client client(argv[1]);
  const auto object = run_task(client.shard, client.local.open(name, verb == "cat" ? argv[4] : ""));
  Status done;
  if (!object) {
    done = fail(object.error());
  } else if (verb == "cat") {
    done = cat(**object);
  } else {
    done = time_both(client, **object, name, std::strtoul(argv[4], nullptr, 10),
                     argc > 5 ? std::atoi(argv[5]) : 1);
  }
  const Status stopped = run_task(client.shard, client.http.stop());
  if (!done) return complain(done.error());
  return stopped ? 0 : complain(stopped.error());
}
