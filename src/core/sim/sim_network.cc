#include "sim/sim_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "sim/sim_stream.h"

namespace leat::sim {
namespace {

constexpr std::uint16_t kFirstOwnPort = 49152;
constexpr Duration kFirstRetry = std::chrono::seconds(1);

bool means_itself(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

bool means_everywhere(const std::string& host) {
  return host == "0.0.0.0" || host == "::";
}

}  // namespace

SimFabric::SimFabric(Timeline& timeline, NetworkOptions options, std::uint64_t seed)
    : timeline_(timeline), links_(options, seed) {}

void SimFabric::partition(const std::string& a, const std::string& b) {
  partition_one_way(a, b);
  partition_one_way(b, a);
}

void SimFabric::partition_one_way(const std::string& from, const std::string& to) {
  links_.cut(from, to);
  timeline_.note("partition", from + ">" + to);
}

void SimFabric::heal(const std::string& a, const std::string& b) {
  links_.mend(a, b);
  links_.mend(b, a);
  timeline_.note("heal", a + "=" + b);
  release_held();
}

void SimFabric::heal_all() {
  links_.mend_all();
  timeline_.note("heal", "all");
  release_held();
}

void SimFabric::release_held() {
  for (const auto& connection : std::views::values(connections_)) {
    connection->release();
  }
}

void SimFabric::reset(const std::string& a, const std::string& b) {
  timeline_.note("reset", a + "=" + b);
  for (const auto& connection : std::views::values(connections_)) {
    if (connection->is_between(a, b)) connection->reset_both();
  }
}

void SimFabric::kill(const std::string& host) {
  timeline_.note("kill", host);
  ++lives_[host];
  std::vector<std::shared_ptr<Port>> dead;
  for (const auto& [key, port] : ports_) {
    if (key.first == host) dead.push_back(port);
  }
  for (const auto& port : dead) {
    close(*port);
  }
  for (const auto& connection : std::views::values(connections_)) {
    for (const Connection::Side side : {Connection::Side{0}, Connection::Side{1}}) {
      if (connection->host(side) == host && connection->is_open(side)) connection->abort(side);
    }
  }
}

// The tasks are destroyed only after all are collected: they own streams and listeners of ours.
void SimFabric::drop_waiters() {
  Connection::Waiters waiters;
  std::deque<rt::Resume<std::unique_ptr<io::Stream>>> acceptors;
  for (const auto& connection : std::views::values(connections_)) {
    connection->take_waiters(waiters);
  }
  for (const auto& port : std::views::values(ports_)) {
    std::ranges::move(std::exchange(port->waiters, {}), std::back_inserter(acceptors));
  }
}

std::uint16_t SimFabric::pick_port(const std::string& host) {
  std::uint16_t& last = last_port_[host];
  do {
    last = last < kFirstOwnPort || last == 65535 ? kFirstOwnPort
                                                 : static_cast<std::uint16_t>(last + 1);
  } while (ports_.contains({host, last}));
  return last;
}

Result<std::shared_ptr<SimFabric::Port>> SimFabric::bind(const std::string& host,
                                                         std::uint16_t port) {
  const std::uint16_t chosen = port == 0 ? pick_port(host) : port;
  auto made = std::make_shared<Port>();
  made->address = io::Address{host, chosen};
  if (!ports_.emplace(PortKey(host, chosen), made).second) {
    return fail(Errc::conflict, fmt::format("listen on {}: in use", made->address.to_string()));
  }
  return made;
}

void SimFabric::close(Port& port) {
  if (port.is_closed) return;
  port.is_closed = true;
  ports_.erase({port.address.host, port.address.port});
  for (const auto& stream : port.backlog) {
    stream->abort();
  }
  port.backlog.clear();
  for (auto& waiter : std::exchange(port.waiters, {})) {
    waiter(fail(Errc::closed));
  }
}

bool SimFabric::is_reachable(const std::string& a, const std::string& b) const {
  return !links_.is_cut(a, b) && !links_.is_cut(b, a);
}

Result<std::unique_ptr<io::Stream>> SimFabric::establish(const std::string& from,
                                                         const io::Address& to) {
  const auto found = ports_.find({to.host, to.port});
  if (found == ports_.end() || found->second->backlog.size() >= kBacklogMax) {
    return fail(Errc::unavailable, fmt::format("connect to {}: refused", to.to_string()));
  }
  Port& port = *found->second;
  const std::uint64_t id = connected_++;
  io::Address connector{from, pick_port(from)};
  timeline_.note("connect", from + ">" + to.host, connector.port, to.port);
  auto connection = std::make_shared<Connection>(timeline_, links_, std::move(connector), to);
  connections_.emplace(id, connection);
  auto accepted = std::make_unique<SimStream>(*this, id, connection, Connection::Side{1});
  if (port.waiters.empty()) {
    port.backlog.push_back(std::move(accepted));
  } else {
    auto waiter = std::move(port.waiters.front());
    port.waiters.pop_front();
    waiter(std::unique_ptr<io::Stream>(std::move(accepted)));
  }
  return std::make_unique<SimStream>(*this, id, std::move(connection), Connection::Side{0});
}

SimNetwork::SimNetwork(SimFabric& fabric, std::string host)
    : fabric_(fabric), host_(std::move(host)) {
  fabric_.lives_.emplace(host_, 0);
}

Result<std::unique_ptr<io::Listener>> SimNetwork::listen(const io::Address& address) {
  const std::string& host = address.host;
  if (host != host_ && !means_itself(host) && !means_everywhere(host)) {
    return fail(Errc::bad_request,
                fmt::format("listen on {}: not an address of {}", address.to_string(), host_));
  }
  LEAT_TRY(auto port, fabric_.bind(host_, address.port));
  return std::make_unique<SimListener>(fabric_, std::move(port));
}

rt::Task<std::unique_ptr<io::Stream>> SimNetwork::connect(io::Address address) {
  if (means_itself(address.host)) address.host = host_;
  if (!fabric_.lives_.contains(address.host)) {
    co_return fail(Errc::not_found,
                   fmt::format("connect to {}: no such host", address.to_string()));
  }
  const std::uint64_t life = fabric_.lives_.at(host_);
  const Instant deadline = fabric_.timeline_.now() + fabric_.options().connect_timeout;
  for (Duration retry = kFirstRetry;; retry *= 2) {
    const Duration round_trip = fabric_.links_.draw_latency() + fabric_.links_.draw_latency();
    const Instant answered = fabric_.timeline_.now() + round_trip;
    LEAT_CO_DO(co_await fabric_.timeline_.sleep_until(answered));
    if (fabric_.lives_.at(host_) != life) co_return fail(Errc::unavailable, "host was killed");
    if (fabric_.is_reachable(host_, address.host)) break;
    if (answered >= deadline) {
      co_return fail(Errc::timeout, fmt::format("connect to {}: no answer", address.to_string()));
    }
    const Instant again = std::min(answered + retry, deadline);
    LEAT_CO_DO(co_await fabric_.timeline_.sleep_until(again));
  }
  co_return fabric_.establish(host_, address);
}

}  // namespace leat::sim
