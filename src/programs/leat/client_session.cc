#include "leat/client_session.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "io/pool_io.h"
#include "io/tcp_network.h"
#include "io/uring_io.h"
#include "leat/harmless.h"
#include "leat/table.h"
#include "rt/runtime.h"
#include "rt/signals.h"

namespace leat::programs {
namespace {

using transfer::Tools;

constexpr Duration kLook = std::chrono::milliseconds(10);
constexpr std::size_t kThreads = 8;
constexpr std::size_t kMemoryMaxBytes = 256 * kMiB;  // of all shards, unless they are many
constexpr std::size_t kMemoryMinBytes = 64 * kMiB;   // of each

// What ^C says is written by one thread and read by another.
class Advice {
 public:
  ~Advice() { delete text_.load(); }
  void set(std::string text) { delete text_.exchange(new std::string(std::move(text))); }
  // Takes it, so that nobody changes it while it is printed.
  std::unique_ptr<std::string> take() {
    return std::unique_ptr<std::string>(text_.exchange(nullptr));
  }

 private:
  std::atomic<std::string*> text_{nullptr};
};

// What all shards share.
struct Common {
  io::RealClock& clock;
  io::SystemRng& rng;
  io::Disk& disk;
  rt::BlockingPool& pool;
  transfer::Counters& counters;
  const transfer::TransferOptions& options;
  const s3client::ServiceOptions& service;
};

// A client and what it stands on, on one shard.
class Member {
 public:
  Member(rt::Shard& shard, const Common& common)
      : network_(shard, {}),
        watchdog_(common.clock, kLook),
        client_({shard, network_, common.clock, watchdog_, common.rng}, common.service),
        memory_(common.options.memory_max_bytes),
        pool_io_(common.pool) {
    if (auto ring = io::UringIo::open(shard)) ring_ = std::move(*ring);
    io::FileIo& files = ring_ ? static_cast<io::FileIo&>(*ring_) : pool_io_;
    tools_.emplace(Tools{shard, client_, common.disk, files, common.pool, memory_, common.counters,
                         common.options});
  }

  rt::Task<void> start() {
    tools_->shard.spawn(watchdog_.run(), [](const Status&) {});
    tools_->shard.spawn(client_.run(), [](const Status&) {});
    co_return Status{};
  }

  rt::Task<void> stop() {
    Status stopped = co_await client_.stop();
    watchdog_.stop();
    co_return stopped;
  }

  Tools& tools() { return *tools_; }
  // Tools of this member that see another disk.
  Tools& tools_on(io::Disk& disk) {
    const Tools& own = *tools_;
    below_.emplace(Tools{own.shard, own.client, disk, own.files, own.pool, own.memory, own.counters,
                         own.options});
    return *below_;
  }

 private:
  io::TcpNetwork network_;
  io::Watchdog watchdog_;
  s3client::S3Client client_;
  transfer::MemoryBudget memory_;
  io::PoolIo pool_io_;
  std::unique_ptr<io::UringIo> ring_;
  std::optional<Tools> tools_;
  std::optional<Tools> below_;
};

class RealSession final : public Session {
 public:
  RealSession(const Invocation& i, const Arguments& a, const ClientSettings& s, Advice& advice,
              std::vector<std::unique_ptr<Member>>& team)
      : Session(i, a, s), advice_(advice), team_(team) {}

  std::vector<Tools*> members() override {
    std::vector<Tools*> all;
    for (const auto& member : team_)
      all.push_back(&member->tools());
    return all;
  }

  Result<std::vector<Tools*>> members_below(const std::string& root) override {
    LEAT_TRY(auto disk, io::PosixDisk::below(root));
    below_.emplace(std::move(disk));
    std::vector<Tools*> all;
    for (const auto& member : team_)
      all.push_back(&member->tools_on(*below_));
    return all;
  }

  void set_interrupt_advice(std::string advice) override { advice_.set(std::move(advice)); }

 private:
  Advice& advice_;
  std::vector<std::unique_ptr<Member>>& team_;
  std::optional<io::PosixDisk> below_;
};

[[noreturn]] void leave(Advice& advice, bool is_terminal) {
  const auto text = advice.take();
  fmt::print(stderr, "{}leat: interrupted{}\n", is_terminal ? "\n" : "", text ? "; " + *text : ".");
  std::fflush(stderr);
  std::_Exit(static_cast<int>(Exit::interrupted));
}

rt::Task<void> run_body(ClientBody body, Session& session, Result<Exit>& outcome) {
  outcome = co_await body(session);
  co_return Status{};
}

Result<Exit> run_parsed_client(const Invocation& invocation, const Arguments& arguments,
                               ClientCommand command) {
  LEAT_TRY(const ClientSettings settings, client_settings(invocation, arguments));
  io::RealClock clock;
  io::SystemRng rng;
  LEAT_TRY(const auto tls, client_tls(settings.endpoint, settings.ca_file, clock));
  Advice advice;
  const bool is_terminal = invocation.stderr_is_terminal;
  const rt::OnInterrupt on_interrupt([&advice, is_terminal] { leave(advice, is_terminal); });

  io::PosixDisk disk;
  transfer::Counters counters;
  rt::Runtime runtime(command.shards);
  const auto shards = runtime.size();
  rt::BlockingPool pool("files", kThreads, 64 * 1024);
  const transfer::TransferOptions options{
      .part_bytes = settings.part_bytes,
      .memory_max_bytes = std::max(kMemoryMaxBytes / shards, kMemoryMinBytes),
      .state_folder = settings.state_folder};
  s3client::ServiceOptions service{
      .endpoint = settings.endpoint, .signer = settings.signer, .tls = tls ? &*tls : nullptr};
  service.http.connections_max_per_host = settings.jobs + options.parts_at_once;
  service.http.idle_max_per_host = service.http.connections_max_per_host;
  service.http.idle_max_total = service.http.connections_max_per_host;
  service.http.silence_timeout = std::chrono::minutes(2);
  service.http.period = kLook;
  // About ten seconds, for all workers at once: long enough for a node to start again.
  service.retry = {.attempts_max = 9, .budget_max = 4000};
  const Common common{clock, rng, disk, pool, counters, options, service};
  std::vector<std::unique_ptr<Member>> team;
  for (std::uint32_t i = 0; i < shards; ++i)
    team.push_back(std::make_unique<Member>(runtime.shard(i), common));
  RealSession session(invocation, arguments, settings, advice, team);
  const auto member_of = [&team](const rt::Shard& shard) -> Member& {
    return *team[shard.id().value()];
  };
  Result<Exit> outcome = Exit::done;
  runtime.start();
  Status ran = runtime.on_every_shard([&](rt::Shard& shard) { return member_of(shard).start(); });
  if (ran) {
    ran = runtime.on_every_shard([&](rt::Shard& shard) -> rt::Task<void> {
      if (shard.id().value() == 0) return run_body(command.body, session, outcome);
      return rt::yield();
    });
  }
  Status stopped =
      runtime.on_every_shard([&](rt::Shard& shard) { return member_of(shard).stop(); });
  pool.finish();
  runtime.stop();
  if (!ran) return fail(std::move(ran).error());
  if (outcome && !stopped) return fail(std::move(stopped).error());
  return outcome;
}

}  // namespace

Status confirm(const Session& session, const std::string& question) {
  if (session.arguments.has("--yes")) return {};
  if (!session.invocation.stdin_is_terminal || !session.invocation.stderr_is_terminal) {
    return fail(
        Errc::bad_request,
        fmt::format("{}? Nobody can be asked here: pass --yes, or look with --dry-run", question));
  }
  fmt::print(stderr, "{}? [y/N] ", harmless(question));
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return {};
  return fail(Errc::cancelled, "nothing was changed");
}

Exit run_client(const Grammar& grammar, const Invocation& invocation, ClientCommand command) {
  const auto arguments = parse_arguments(grammar, invocation.words);
  const auto done = answer_early(grammar, invocation, arguments);
  if (done) return *done;
  auto outcome = run_parsed_client(invocation, *arguments, command);
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_written && outcome && *outcome == Exit::done) {
    // A reader that has enough is no reason to complain.
    if (errno == EPIPE) return Exit::failed;
    return complain(Error(Errc::io, "standard output cannot be written"));
  }
  return outcome ? *outcome : complain(outcome.error());
}

}  // namespace leat::programs
