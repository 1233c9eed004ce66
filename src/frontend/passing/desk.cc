#include "passing/desk.h"

#include <fmt/format.h>

#include <array>

#include "base/encoding.h"

namespace leat::passing {
namespace {

constexpr Duration kWatchPeriod = std::chrono::milliseconds(100);
constexpr Duration kPauseWhenBusy = std::chrono::milliseconds(100);
// A stranger who guesses fills no log.
constexpr Duration kWarningPause = std::chrono::seconds(1);

std::uint32_t status_of(const Error& error) {
  return static_cast<std::uint32_t>(traits(error.code()).http_status);
}

// Plain bytes: descriptors that come with them are dropped by the kernel, where a stranger's would
// fill the process's table until the ticket is whole.
rt::Task<void> read_ticket(io::UnixStream& stream, handover::Ticket& ticket) {
  MutableBytes rest(ticket);
  while (!rest.empty()) {
    LEAT_CO_TRY(const std::size_t got, co_await io::read_some(stream, rest));
    if (got == 0) co_return fail(Errc::closed);
    rest = rest.subspan(got);
  }
  co_return Status{};
}

}  // namespace

std::string random_socket_name(io::Rng& rng) {
  std::array<std::byte, 16> name{};
  rng.fill(name);
  return "@leat-" + to_hex(name);
}

Desk::Desk(const DeskTools& tools, DeskOptions options)
    : tools_(tools),
      options_(options),
      tickets_(tools.rng, options.tickets),
      watchdog_(tools.clock, kWatchPeriod),
      tickets_out_(tools.metrics.gauge("leat_local_tickets",
                                       "Tickets for local files that nobody has used yet.")),
      connections_open_(
          tools.metrics.gauge("leat_local_connections", "Open connections of the local socket.")),
      connections_refused_(tools.metrics.counter(
          "leat_local_connections_refused_total",
          "Connections of the local socket that were closed because there were too many.")),
      tickets_refused_(tools.metrics.counter("leat_local_tickets_refused_total",
                                             "Tickets for which no files could be passed.")),
      objects_passed_(tools.metrics.counter("leat_local_objects_passed_total",
                                            "Objects whose files were passed to local clients.")),
      files_passed_(tools.metrics.counter("leat_local_files_passed_total",
                                          "Files that were passed to local clients.")) {}

Status Desk::listen(const std::string& name) {
  LEAT_TRY(listener_, io::UnixListener::listen(tools_.shard, name));
  return {};
}

void Desk::start() {
  auto pass = gate_.enter();
  if (!pass) return;  // stopped before it began
  tools_.shard.spawn(watchdog_.run(), [](const Status&) {});
  tools_.shard.spawn(accept_loop(std::move(*pass)), [this](const Status& ended) {
    if (!ended && ended.error().code() != Errc::closed) {
      tools_.logger.error("no longer passing files to local clients", {{"error", ended.error()}});
    }
  });
}

rt::Task<void> Desk::stop() {
  if (listener_) listener_->close();
  watchdog_.interrupt_all(Errc::closed);
  Status left = co_await gate_.close();
  watchdog_.stop();
  co_return left;
}

rt::Task<Desk::Issued> Desk::issue(std::vector<Opener> openers, rt::Shard& from) {
  auto issued =
      rt::ask<Issued>(from, tools_.shard, [this, &openers] { return issue_here(openers); });
  co_return co_await std::move(issued);
}

rt::Task<Desk::Issued> Desk::issue_here(std::vector<Opener>& openers) {
  const Instant now = tools_.clock.now();
  Issued issued;
  for (Opener& opener : openers)
    issued.push_back(tickets_.issue(now, std::move(opener)));
  tickets_out_.set(static_cast<double>(tickets_.size()));
  co_return issued;
}

rt::Task<void> Desk::accept_loop(rt::Gate::Pass pass) {
  const rt::Gate::Pass accepting = std::move(pass);
  while (true) {
    auto stream = co_await listener_->accept();
    if (!stream) {
      if (stream.error().code() == Errc::closed) co_return fail(std::move(stream).error());
      // For want of descriptors: that passes.
      connections_refused_.add();
      LEAT_CO_DO(co_await tools_.clock.sleep_until(tools_.clock.now() + kPauseWhenBusy));
      continue;
    }
    auto entered = gate_.enter();
    if (!entered) co_return fail(Errc::closed);
    if (connections() >= options_.connections_max) {
      connections_refused_.add();
      // Who is in gets on before the next one is turned away.
      LEAT_CO_DO(co_await rt::yield());
      continue;
    }
    tools_.shard.spawn(serve(std::move(*stream), std::move(*entered)),
                       [](const Status&) {});  // how a client left is the client's affair
  }
}

rt::Task<void> Desk::serve(std::unique_ptr<io::UnixStream> stream, rt::Gate::Pass pass) {
  const rt::Gate::Pass inside = std::move(pass);
  io::Watchdog::Watch watch(watchdog_, *stream);
  connections_open_.add(1);
  Status ended = co_await converse(*stream, watch);
  connections_open_.add(-1);
  co_return ended;
}

rt::Task<void> Desk::converse(io::UnixStream& stream, io::Watchdog::Watch& watch) {
  while (true) {
    handover::Ticket ticket{};
    watch.allow(options_.patience);
    LEAT_CO_DO(co_await read_ticket(stream, ticket));
    watch.pause();
    auto files = co_await open(ticket);
    watch.allow(options_.patience);
    if (!files) {
      note_refusal(stream, files.error());
      const std::string text = handover::encode({.status = status_of(files.error()),
                                                 .files = {},
                                                 .message = std::string(files.error().detail())});
      const Bytes bytes = as_bytes(text);
      const std::span<const int> nothing;
      co_return co_await io::write_all_with(stream, bytes, nothing);
    }
    LEAT_CO_DO(co_await pass(stream, *files));
  }
}

rt::Task<std::vector<OpenFile>> Desk::open(const handover::Ticket& ticket) {
  auto opener = tickets_.redeem(tools_.clock.now(), ticket);
  tickets_out_.set(static_cast<double>(tickets_.size()));
  if (!opener) co_return fail(Errc::not_found, "the ticket is unknown, used or too old");
  auto opening = (*opener)();
  LEAT_CO_TRY(auto files, co_await std::move(opening));
  for (const OpenFile& one : files) {
    if (one.file->descriptor() < 0) co_return fail(Errc::not_implemented, "no file of the kernel");
  }
  if (files.empty() || files.size() > handover::kFilesMax) {
    co_return fail(Errc::not_implemented, "too many files for one message");
  }
  co_return files;
}

rt::Task<void> Desk::pass(io::UnixStream& stream, const std::vector<OpenFile>& files) {
  handover::Answer answer;
  std::vector<int> descriptors;
  for (const OpenFile& one : files) {
    answer.files.push_back(one.part);
    descriptors.push_back(one.file->descriptor());
  }
  const std::string text = handover::encode(answer);
  const Bytes bytes = as_bytes(text);
  const std::span<const int> passed(descriptors);
  LEAT_CO_DO(co_await io::write_all_with(stream, bytes, passed));
  objects_passed_.add();
  files_passed_.add(files.size());
  if (tools_.logger.enabled(log::Level::debug)) {
    const io::UnixPeer peer = stream.who().value_or(io::UnixPeer{});
    tools_.logger.debug("files passed",
                        {{"files", files.size()}, {"process", peer.process}, {"user", peer.user}});
  }
  co_return Status{};
}

void Desk::note_refusal(const io::UnixStream& stream, const Error& error) {
  tickets_refused_.add();
  const Instant now = tools_.clock.now();
  if (now < next_warning_) return;
  next_warning_ = now + kWarningPause;
  const io::UnixPeer peer = stream.who().value_or(io::UnixPeer{});
  tools_.logger.warn("no files for a local client",
                     {{"process", peer.process}, {"user", peer.user}, {"error", error}});
}

}  // namespace leat::passing
