#include "leat/server_process.h"

#include <fmt/format.h>

#include <unistd.h>
#include <ranges>

#include <array>

#include "http/relief.h"
#include "io/core_dumps.h"
#include "io/pool_io.h"
#include "io/uring_io.h"
#include "leat/settings.h"

namespace leat::programs {
namespace {

constexpr std::size_t kBodyBufferBytes = 512 * 1024;
constexpr std::size_t kPoolQueueMax = 64 * 1024;
constexpr Duration kWatchPeriod = std::chrono::milliseconds(100);

Result<log::Level> level_from(const std::string& text) {
  if (text == "debug") return log::Level::debug;
  if (text == "info") return log::Level::info;
  if (text == "warn") return log::Level::warn;
  if (text == "error") return log::Level::error;
  return fail(Errc::bad_request,
              fmt::format("log_level: {} is not debug, info, warn or error", text));
}

log::Options log_options(const config::Config& settings, const Invocation& invocation,
                         log::Level level) {
  const std::string& format = settings.text("log_format");
  const bool text = format == "text" || (format == "auto" && invocation.stderr_is_terminal);
  const bool colour = invocation.stderr_is_terminal && !invocation.environment.contains("NO_COLOR");
  return {.level = level,
          .style = {.format = text ? log::Format::text : log::Format::json, .colour = colour}};
}

Status check_choice(const config::Config& settings, std::string_view key,
                    std::span<const std::string_view> choices) {
  const std::string& value = settings.text(key);
  for (const std::string_view choice : choices) {
    if (value == choice) return {};
  }
  return fail(Errc::bad_request,
              fmt::format("{}: {} is not {}", key, value, fmt::join(choices, ", ")));
}

Status check_number(const config::Config& settings, std::string_view key, std::int64_t min,
                    std::int64_t max) {
  const std::int64_t value = settings.integer(key);
  if (value >= min && value <= max) return {};
  return fail(Errc::bad_request, fmt::format("{}: {} is not in {}…{}", key, value, min, max));
}

Status check(const config::Config& settings) {
  static constexpr std::array<std::string_view, 3> kIo = {"auto", "uring", "psync"};
  static constexpr std::array<std::string_view, 3> kFormat = {"auto", "text", "json"};
  LEAT_DO(listen_address(settings));
  LEAT_DO(check_choice(settings, "io", kIo));
  LEAT_DO(check_choice(settings, "log_format", kFormat));
  LEAT_DO(check_number(settings, "cores", 0, 1024));
  LEAT_DO(check_number(settings, "io_threads", 1, 256));
  LEAT_DO(check_number(settings, "http.fields_max", 1, 128));
  LEAT_DO(check_number(settings, "http.connections_max", 1, 1'000'000));
  const std::uint64_t head = settings.bytes("http.head_max_bytes");
  if (head < 1024 || head > 60 * kKiB) {
    return fail(Errc::bad_request, "http.head_max_bytes must be 1KiB…60KiB");
  }
  if (settings.bytes("http.target_max_bytes") > head) {
    return fail(Errc::bad_request, "http.target_max_bytes must not exceed http.head_max_bytes");
  }
  if (settings.bytes("http.body_rate_min") == 0) {
    return fail(Errc::bad_request, "http.body_rate_min must be at least 1");
  }
  if (settings.bytes("buffers_max_bytes") < 8 * kBodyBufferBytes) {
    return fail(Errc::bad_request, "buffers_max_bytes must be at least 4MiB");
  }
  return {};
}

std::size_t round_up_to_page(std::size_t size) {
  return (size + 4095) / 4096 * 4096;
}

Result<std::unique_ptr<io::FileIo>> make_file_io(const config::Config& settings, rt::Shard& shard,
                                                 rt::BlockingPool& pool, log::Logger& logger) {
  const std::string& choice = settings.text("io");
  if (choice != "psync") {
    auto uring = io::UringIo::open(shard);
    if (uring) return std::move(*uring);
    if (choice == "uring") return fail(std::move(uring).error());
    logger.warn("io_uring is not to be had here; using threads", {{"error", uring.error()}});
  }
  return std::make_unique<io::PoolIo>(pool);
}

}  // namespace

// Everything that lives on one shard. Made and destroyed by main() while the shards do not run.
struct ServerProcess::ShardServer {
  ShardServer(ServerProcess& process, const ServerPlan& plan, rt::Shard& on,
              std::unique_ptr<io::FileIo> files)
      : shard(on),
        file_io(std::move(files)),
        network(on, io::TcpOptions{}),
        watchdog(process.clock_, kWatchPeriod),
        head_buffers(round_up_to_page(process.options_.head.head_max_bytes + http::kBodyRoomBytes),
                     process.options_.connections_max),
        body_buffers(kBodyBufferBytes, plan.settings.bytes("buffers_max_bytes") / kBodyBufferBytes),
        dispatcher(plan.authenticator),
        context{.shard = on,
                .options = process.options_,
                .dispatcher = dispatcher,
                .clock = process.clock_,
                .watchdog = watchdog,
                .file_io = *file_io,
                .head_buffers = head_buffers,
                .body_buffers = body_buffers,
                .metrics = process.http_metrics_,
                .logger = process.logger_,
                .next_request_id = process.rng_.next()},
        tools{on,           process.clock_, process.rng_,    *file_io,
              body_buffers, process.pool_,  context.draining},
        server(context, plan.upgrade) {
    watchdog.on_look([this](Instant now) { http::relieve(context, now); });
  }

  void make_site(const ServerPlan& plan) {
    site = plan.make_site(tools);
    site->install(dispatcher);
  }

  rt::Task<void> serve() {
    site->start();
    shard.spawn(watchdog.run(), [](const Status&) {});
    server.serve(std::move(listener));
    co_return Status{};
  }

  rt::Shard& shard;
  std::unique_ptr<io::FileIo> file_io;
  io::TcpNetwork network;
  std::unique_ptr<io::Listener> listener;  // until start()
  io::Watchdog watchdog;
  io::BufferPool head_buffers;
  io::BufferPool body_buffers;
  http::Dispatcher dispatcher;
  http::ServerContext context;
  const ShardTools tools;
  std::unique_ptr<Site> site;
  http::Server server;
};

Result<std::unique_ptr<ServerProcess>> ServerProcess::make(const config::Config& settings,
                                                           const Invocation& invocation) {
  LEAT_TRY(const log::Level level, level_from(settings.text("log_level")));
  LEAT_DO(check(settings));
  if (!settings.boolean("core_dumps")) LEAT_DO(io::forbid_core_dumps());
  return std::unique_ptr<ServerProcess>(new ServerProcess(settings, invocation, level));
}

ServerProcess::ServerProcess(const config::Config& settings, const Invocation& invocation,
                             log::Level level)
    : sink_(STDERR_FILENO),
      logger_(sink_, clock_, log_options(settings, invocation, level)),
      http_metrics_(metrics_),
      options_(server_options(settings)),
      runtime_(static_cast<std::uint32_t>(settings.integer("cores"))),
      pool_("leat-io", static_cast<std::size_t>(settings.integer("io_threads")), kPoolQueueMax) {
  metrics_.gauge_callback("leat_blocking_pool_queue_depth", "Calls that wait for a pool thread.",
                          {}, [this] { return static_cast<double>(pool_.queue_depth()); });
  metrics_.gauge_callback("leat_log_dropped_lines", "Log lines lost because the log was too slow.",
                          {}, [this] { return static_cast<double>(logger_.dropped()); });
}

ServerProcess::~ServerProcess() = default;

// Whatever may fail, for one shard; no task is started, so that giving up leaves none behind.
Status ServerProcess::prepare_shard(const ServerPlan& plan, rt::Shard& shard,
                                    const io::Address& address) {
  LEAT_TRY(auto file_io, make_file_io(plan.settings, shard, pool_, logger_));
  servers_.push_back(std::make_unique<ShardServer>(*this, plan, shard, std::move(file_io)));
  ShardServer& server = *servers_.back();
  LEAT_TRY(server.listener, server.network.listen(address));
  metrics_.gauge_callback("leat_shard_mailbox_depth", "Messages that wait for a shard.",
                          {{"shard", std::to_string(shard.id().value())}},
                          [&shard] { return static_cast<double>(shard.mailbox_depth()); });
  const std::size_t slot = shard.id().value();
  return shard.deliver([slot] { metrics::use_slot(slot); });
}

Status ServerProcess::run(const ServerPlan& plan) {
  LEAT_TRY(const io::Address address, listen_address(plan.settings));
  if (Status unused = io::TcpNetwork::check_unused(address); !unused) {
    if (unused.error().code() != Errc::conflict) {
      return fail(unused.error().code(),
                  fmt::format("{}; --listen takes an address of this machine: 127.0.0.1 for itself "
                              "alone, 0.0.0.0 for all",
                              unused.error().detail()));
    }
    return fail(Errc::conflict, fmt::format("{} is in use by another program; choose another "
                                            "address with --listen",
                                            address.to_string()));
  }
  io::Address bound = address;
  for (std::uint32_t i = 0; i < runtime_.size(); ++i) {
    LEAT_DO(prepare_shard(plan, runtime_.shard(i), bound));
    bound = servers_.back()->listener->address();  // the port the kernel chose, if 0 was asked for
  }
  std::vector<ShardTools> tools;
  for (const auto& server : servers_)
    tools.push_back(server->tools);
  for (Foundation* foundation : plan.foundations)
    LEAT_DO(foundation->prepare(tools));
  for (const auto& server : servers_)
    server->make_site(plan);
  if (Status started = start(plan); !started) {
    const Status stopped = stop(plan);
    if (!stopped)
      logger_.error("stopping after a failed start failed", {{"error", stopped.error()}});
    return started;
  }
  plan.announce(bound);
  logger_.info("listening", {{"address", bound.to_string()},
                             {"cores", runtime_.size()},
                             {"descriptors_max", descriptors_.now},
                             {"descriptors_max_before", descriptors_.before}});

  const int signal = stop_.wait();
  const Duration limit = plan.settings.duration("drain_timeout");
  logger_.info("draining", {{"signal", signal}, {"limit", limit}});
  const Status drained = runtime_.on_every_shard(
      [&](rt::Shard& shard) { return drain_shard(*servers_[shard.id().value()], limit); });
  const Status stopped = stop(plan);
  if (!drained) return fail(drained.error());
  if (!stopped) return fail(stopped.error());
  logger_.info("stopped");
  return {};
}

Status ServerProcess::start(const ServerPlan& plan) {
  runtime_.start();
  for (Foundation* foundation : plan.foundations) {
    LEAT_DO(runtime_.on_every_shard(
        [foundation](rt::Shard& shard) { return foundation->start(shard); }));
  }
  return runtime_.on_every_shard(
      [this](rt::Shard& shard) { return servers_[shard.id().value()]->serve(); });
}

Status ServerProcess::stop(const ServerPlan& plan) {
  Status stopped;
  for (Foundation* foundation : std::views::reverse(plan.foundations)) {
    Status one =
        runtime_.on_every_shard([foundation](rt::Shard& shard) { return foundation->stop(shard); });
    if (stopped) stopped = std::move(one);
  }
  runtime_.stop();
  pool_.finish();  // abandoned uploads are removed on a disk that the caller owns
  return stopped;
}

rt::Task<void> ServerProcess::drain_shard(ShardServer& server, Duration limit) {
  LEAT_CO_DO(co_await server.server.drain(limit));
  server.watchdog.stop();
  co_return co_await server.body_buffers.drained();
}

}  // namespace leat::programs
