#include "http/server.h"

#include "base/check.h"
#include "http/connection.h"

namespace leat::http {
namespace {

constexpr Duration kPauseWhenBusy = std::chrono::milliseconds(100);
constexpr unsigned kAcceptsInARow = 16;

}  // namespace

Server::Server(ServerContext& context, StreamUpgrade* upgrade)
    : context_(context), upgrade_(upgrade) {
  LEAT_CHECK(context.head_buffers.buffer_bytes() >=
             context.options.head.head_max_bytes + kBodyRoomBytes);
}

void Server::serve(std::unique_ptr<io::Listener> listener) {
  auto pass = gate_.enter();
  if (!pass) return;  // draining: nobody new
  listeners_.push_back(std::move(listener));
  auto loop = accept_loop(*listeners_.back(), std::move(*pass));
  context_.shard.spawn(std::move(loop), [this](const Status& ended) {
    if (!ended && ended.error().code() != Errc::closed) {
      context_.logger.error("no longer accepting connections", {{"error", ended.error()}});
    }
  });
}

// Inside the gate, too: drain() returns only when nobody uses the listeners any more.
rt::Task<void> Server::accept_loop(io::Listener& listener, rt::Gate::Pass pass) {
  const rt::Gate::Pass accepting = std::move(pass);
  for (unsigned count = 1;; ++count) {
    // While clients queue up, accepting never waits; those that are in want their turn.
    if (count % kAcceptsInARow == 0) LEAT_CO_DO(co_await rt::yield());
    auto stream = co_await listener.accept();
    if (!stream) {
      // Accepting fails for want of descriptors, and for errors of connections that died early:
      // both pass. Only a closed listener is at its end.
      if (stream.error().code() == Errc::closed) co_return fail(std::move(stream).error());
      context_.metrics.connections_refused.add();
      context_.logger.warn("cannot accept connections for now", {{"error", stream.error()}});
      LEAT_CO_DO(co_await context_.clock.sleep_until(context_.clock.now() + kPauseWhenBusy));
      continue;
    }
    auto entered = gate_.enter();
    if (!entered) co_return fail(Errc::closed);
    if (connections() >= context_.options.connections_max) {
      context_.metrics.connections_refused.add();
      continue;  // closes it
    }
    context_.metrics.connections_accepted.add();
    context_.shard.spawn(serve_connection(std::move(*stream), std::move(*entered)),
                         [](const Status&) {});  // how a client left is the client's affair
  }
}

rt::Task<void> Server::serve_connection(std::unique_ptr<io::Stream> stream, rt::Gate::Pass pass) {
  const rt::Gate::Pass inside = std::move(pass);
  context_.metrics.connections.add(1);
  // The watch holds the raw stream; an upgraded one owns it and lives as long.
  io::Stream& raw = *stream;
  Status ended;
  {
    io::Watchdog::Watch watch(context_.watchdog, raw);
    if (upgrade_ != nullptr) {
      watch.allow(context_.options.head_timeout);
      auto upgraded = co_await upgrade_->upgrade(std::move(stream));
      if (upgraded) {
        stream = std::move(*upgraded);
      } else {
        ended = fail(std::move(upgraded).error());
      }
    }
    if (ended) {
      Connection connection(context_, *stream, watch);
      ended = co_await connection.serve();
    }
  }
  context_.metrics.connections.add(-1);
  co_return ended;
}

rt::Task<void> Server::drain(Duration limit) {
  context_.draining = true;
  for (const auto& listener : listeners_)
    listener->close();
  context_.watchdog.interrupt_idle(Errc::closed);
  context_.shard.spawn(cut_at(context_.clock.now() + limit, drained_), [](const Status&) {});
  Status left = co_await gate_.close();
  *drained_ = true;
  co_return left;
}

// It may wake after the server is gone: then `drained` says so, and nothing else may be looked at.
rt::Task<void> Server::cut_at(Instant when, std::shared_ptr<const bool> drained) {
  LEAT_CO_DO(co_await context_.clock.sleep_until(when));
  if (!*drained && connections() > 0) {
    context_.logger.warn("drain took too long: cutting connections", {{"count", connections()}});
    context_.watchdog.interrupt_all(Errc::closed);
  }
  co_return Status{};
}

}  // namespace leat::http
