// ServerProcess: what `leat serve` and `leat share` have in common — shards, sockets, log, metrics,
// signals, drain. The site itself (routes and handlers) is given to it, shard by shard.
//
//   start → listen → announce → wait for a signal → drain → stop
//
// The first SIGTERM or SIGINT drains: no new connections, requests in flight are finished, at most
// for `drain_timeout`. A second one ends the process at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "http/dispatcher.h"
#include "http/server.h"
#include "io/buffer_pool.h"
#include "io/clock.h"
#include "io/descriptor_limit.h"
#include "io/rng.h"
#include "io/tcp_network.h"
#include "io/watchdog.h"
#include "leat/command.h"
#include "log/logger.h"
#include "metrics/registry.h"
#include "rt/blocking_pool.h"
#include "rt/runtime.h"
#include "rt/signals.h"

namespace leat::programs {

// What a site is built from, on one shard.
struct ShardTools {
  rt::Shard& shard;
  io::Clock& clock;
  io::Rng& rng;
  io::FileIo& file_io;
  io::BufferPool& body_buffers;
  rt::BlockingPool& pool;
  const bool& draining;
};

// The handlers of one shard; kept alive until the server has drained.
class Site {
 public:
  virtual ~Site() = default;
  virtual void install(http::Dispatcher& dispatcher) = 0;

  // Spawns what the site does by itself, if anything.
  virtual void start() {}
};

// What lies under the sites of all shards, such as the store: made when all shards are there,
// before any of them runs.
class Foundation {
 public:
  virtual ~Foundation() = default;
  // By main(), before the sites are made. Lifetime: the tools outlive the foundation's use.
  virtual Status prepare(std::span<const ShardTools> shards) = 0;
  // On every shard, before requests come, and after the last one was answered.
  virtual rt::Task<void> start(rt::Shard& shard) = 0;
  virtual rt::Task<void> stop(rt::Shard& shard) = 0;
};

struct ServerPlan {
  const config::Config& settings;
  const Invocation& invocation;
  const http::Authenticator& authenticator;
  http::StreamUpgrade* upgrade = nullptr;  // null: plain connections
  std::vector<Foundation*> foundations{};  // from the lowest up; stopped from the top down
  std::function<std::unique_ptr<Site>(const ShardTools&)> make_site;
  std::function<void(const io::Address&)> announce;  // called once the sockets are open
};

class ServerProcess {
 public:
  // Errors: bad_request for settings that make no sense.
  static Result<std::unique_ptr<ServerProcess>> make(const config::Config& settings,
                                                     const Invocation& invocation);
  ~ServerProcess();

  metrics::Registry& metrics() { return metrics_; }
  log::Logger& logger() { return logger_; }
  io::Clock& clock() { return clock_; }
  io::Rng& rng() { return rng_; }
  rt::BlockingPool& pool() { return pool_; }
  std::uint32_t shards() const { return runtime_.size(); }

  // How many the process may have open.
  std::uint64_t descriptors() const { return descriptors_.now; }

  // Serves until a signal. Errors: conflict (address in use), denied, bad_request.
  Status run(const ServerPlan& plan);

 private:
  struct ShardServer;

  ServerProcess(const config::Config& settings, const Invocation& invocation, log::Level level);

  Status prepare_shard(const ServerPlan& plan, rt::Shard& shard, const io::Address& address);
  Status start(const ServerPlan& plan);
  Status stop(const ServerPlan& plan);
  rt::Task<void> drain_shard(ShardServer& server, Duration limit);

  rt::StopSignal stop_;  // first of all: before any thread is started
  io::DescriptorLimit descriptors_ = io::raise_descriptor_limit();
  io::RealClock clock_;
  io::SystemRng rng_;
  log::FdSink sink_;
  log::Logger logger_;
  metrics::Registry metrics_;
  http::ServerMetrics http_metrics_;
  http::ServerOptions options_;
  rt::Runtime runtime_;
  rt::BlockingPool pool_;
  std::vector<std::unique_ptr<ShardServer>> servers_;
};

}  // namespace leat::programs
