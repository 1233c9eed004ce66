#include "httpclient/pool.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace leat::httpclient {

Host& Pool::host_of(const io::Address& address, const tls::ClientTls* tls) {
  Host& host = hosts_[Key(address.host, address.port, tls)];
  host.address = address;
  host.tls = tls;
  return host;
}

rt::Task<std::unique_ptr<Connection>> Pool::acquire(io::Address address, const tls::ClientTls* tls,
                                                    Instant deadline, Freshness wanted) {
  LEAT_CO_TRY(const rt::Gate::Pass pass, gate_.enter());
  const Instant now = context_.clock.now();
  if (deadline <= now) co_return fail(Errc::timeout, "the request's deadline has passed");
  Host& host = host_of(address, tls);
  if (wanted == Freshness::any) {
    if (auto idle = take_idle(host)) co_return idle;
  }
  if (host.waiting.size() >= context_.options.waiting_max_per_host) {
    co_return fail(Errc::busy, "too many requests wait for " + address.to_string());
  }
  const Instant until = std::min(deadline, now + context_.options.acquire_timeout);
  auto turn = rt::suspend<std::unique_ptr<Connection>>(
      [this, &host, until, wanted](rt::Resume<std::unique_ptr<Connection>> resume) {
        host.waiting.push_back({std::move(resume), until, wanted});
        ++context_.stats.waiting;
        refill(host);
      });
  co_return co_await std::move(turn);
}

std::unique_ptr<Connection> Pool::extract(Idle::iterator at) {
  std::unique_ptr<Connection> connection = std::move(*at);
  idle_.erase(at);
  --connection->host().idle;
  --context_.stats.idle;
  return connection;
}

Pool::Idle::iterator Pool::find_idle(const Host& host) {
  return std::ranges::find_if(
      idle_, [&host](const auto& connection) { return &connection->host() == &host; });
}

std::unique_ptr<Connection> Pool::take_idle(Host& host) {
  const Instant oldest = context_.clock.now() - context_.options.idle_timeout;
  while (true) {
    const auto found = find_idle(host);
    if (found == idle_.end()) return nullptr;
    auto connection = extract(found);
    if (connection->resting_since() > oldest && connection->is_quiet()) return connection;
  }
}

bool Pool::drop_idle(Host& host) {
  const auto found = find_idle(host);
  if (found == idle_.end()) return false;
  extract(found).reset();
  return true;
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  Host& host = connection->host();
  connection->rest(context_.clock.now());
  if (gate_.is_closing()) return;
  if (host.waiting.empty()) return keep(std::move(connection));
  // Closed for one that wants a fresh one: forget() sees to it that it is made.
  if (host.waiting.front().wanted == Freshness::fresh) return;
  hand_over(host, std::move(connection));
}

void Pool::keep(std::unique_ptr<Connection> connection) {
  const Options& options = context_.options;
  Host& host = connection->host();
  if (host.idle >= options.idle_max_per_host || options.idle_max_total == 0) return;
  ++host.idle;
  ++context_.stats.idle;
  idle_.push_front(std::move(connection));
  if (idle_.size() > options.idle_max_total) extract(std::prev(idle_.end())).reset();
}

// Requires: somebody waits.
void Pool::hand_over(Host& host, Result<std::unique_ptr<Connection>> result) {
  Host::Waiter first = std::move(host.waiting.front());
  host.waiting.pop_front();
  --context_.stats.waiting;
  first.resume(std::move(result));
}

void Pool::forget(Host& host) {
  --host.open;
  --context_.stats.connections;
  refill(host);
}

// Makes connections for those who wait, as far as the bound allows.
void Pool::refill(Host& host) {
  while (host.connecting < host.waiting.size()) {
    if (host.open >= context_.options.connections_max_per_host) {
      if (!drop_idle(host)) return;
      continue;  // it has called us again when it went
    }
    auto pass = gate_.enter();
    if (!pass) return;
    ++host.open;
    ++host.connecting;
    ++context_.stats.connections;
    context_.shard.spawn(connect(host, std::move(*pass)), [](const Status&) {});
  }
}

rt::Task<void> Pool::connect(Host& host, rt::Gate::Pass pass) {
  // A spawned task starts at once; its outcome must not come while somebody walks our lists.
  LEAT_CO_DO(co_await rt::yield());
  auto stream = co_await open_stream(host);
  --host.connecting;
  if (stream) {
    ++context_.stats.opened;
    auto connection =
        std::make_unique<Connection>(*this, host, std::move(pass), std::move(*stream));
    if (gate_.is_closing()) co_return Status{};
    if (host.waiting.empty()) {
      connection->rest(context_.clock.now());
      keep(std::move(connection));
    } else {
      hand_over(host, std::move(connection));
    }
    co_return Status{};
  }
  // One failed attempt is one failed request; the others have their own.
  if (!host.waiting.empty()) hand_over(host, fail(std::move(stream).error()));
  forget(host);
  co_return Status{};
}

rt::Task<std::shared_ptr<io::Stream>> Pool::open_stream(const Host& host) {
  LEAT_CO_TRY(std::unique_ptr<io::Stream> plain, co_await context_.network.connect(host.address));
  if (host.tls == nullptr) co_return std::shared_ptr<io::Stream>(std::move(plain));
  io::Watchdog::Watch watch(context_.watchdog, *plain);
  const Instant until = context_.clock.now() + context_.options.handshake_timeout;
  watch.allow(until - context_.watchdog.now());
  auto secured = co_await host.tls->connect(std::move(plain), host.address.host);
  if (!secured) co_return fail(std::move(secured).error());
  co_return std::shared_ptr<io::Stream>(std::move(*secured));
}

void Pool::tend(Instant now) {
  while (!idle_.empty() && idle_.back()->resting_since() + context_.options.idle_timeout <= now) {
    extract(std::prev(idle_.end())).reset();
  }
  for (Host& host : std::views::values(hosts_)) {
    std::deque<Host::Waiter> waiting = std::exchange(host.waiting, {});
    for (Host::Waiter& waiter : waiting) {
      if (waiter.deadline > now) {
        host.waiting.push_back(std::move(waiter));
      } else {
        --context_.stats.waiting;
        waiter.resume(fail(Errc::timeout, "no connection to " + host.address.to_string()));
      }
    }
  }
  std::erase_if(hosts_, [](const auto& entry) {
    return entry.second.open == 0 && entry.second.waiting.empty();
  });
}

rt::Task<void> Pool::close() {
  for (Host& host : std::views::values(hosts_)) {
    while (!host.waiting.empty()) {
      hand_over(host, fail(Errc::cancelled, "the HTTP client is closing"));
    }
  }
  while (!idle_.empty()) {
    extract(idle_.begin()).reset();
  }
  co_return co_await gate_.close();
}

}  // namespace leat::httpclient
