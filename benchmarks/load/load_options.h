// LoadOptions: what http_load was asked to do, and the requests that it sends.
//
// Requests are made of paths, or recorded: whoever wrote the file rendered their heads and bodies,
// for instance with a signature in each. Sending is then the same work for every kind of request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leat::benchmarks {

constexpr std::uint64_t kAnyLength = UINT64_MAX;

// As it is sent. An empty body means the shared one, of `body_bytes`.
struct RecordedRequest {
  std::string head;
  std::string body;
};

struct LoadOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::size_t connections = 1;
  double seconds = 0;
  double warmup_seconds = 0;
  std::uint64_t requests = 0;
  bool put = false;
  std::vector<std::string> paths;
  std::vector<RecordedRequest> recorded;
  bool random = false;
  std::uint64_t seed = 1;
  std::uint64_t body_bytes = 0;
  std::string body;  // repeated up to body_bytes; random bytes if it is empty
  std::string field;
  std::uint64_t objects = 0;
  std::uint64_t expect_bytes = kAnyLength;
  std::string probe_path;
  double probe_interval_ms = 1;
};

// Ends the process when they make no sense.
LoadOptions parse_options(int argc, char** argv);

}  // namespace leat::benchmarks
