// SimFabric and SimNetwork: hosts that talk to each other in memory, over links that can be cut.
//
// SimFabric is the whole network and the place to break it. SimNetwork is what one host sees of it,
// as the io::Network of its code. Addresses are names of hosts; "localhost", "127.0.0.1", "::1",
// and for listening also "0.0.0.0" and "::", mean the host itself.
//
// Shard: the world's only one. Lifetime: the fabric outlives its networks, listeners and streams.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "io/network.h"
#include "sim/connection.h"
#include "sim/link_table.h"
#include "sim/timeline.h"

namespace leat::sim {

class SimStream;

class SimFabric {
 public:
  static constexpr std::size_t kBacklogMax = 128;

  SimFabric(Timeline& timeline, NetworkOptions options, std::uint64_t seed);
  SimFabric(const SimFabric&) = delete;
  SimFabric& operator=(const SimFabric&) = delete;

  NetworkOptions& options() { return links_.options; }

  // Cuts both directions, or one. Bytes on the way are held, not lost; connecting times out.
  void partition(const std::string& a, const std::string& b);
  void partition_one_way(const std::string& from, const std::string& to);
  void heal(const std::string& a, const std::string& b);
  void heal_all();

  // Closes both ends of every stream between two hosts at once.
  void reset(const std::string& a, const std::string& b);

  // Ends the process on a host: its listeners are gone, its streams are reset, and the peers hear
  // of it when the news reaches them. The host may listen and connect again at once.
  void kill(const std::string& host);

  // Destroys the tasks that wait on streams and listeners, for a world that ends.
  void drop_waiters();

 private:
  friend class SimNetwork;
  friend class SimListener;
  friend class SimStream;

  struct Port {
    io::Address address;
    bool is_closed = false;
    std::deque<std::unique_ptr<SimStream>> backlog;
    std::deque<rt::Resume<std::unique_ptr<io::Stream>>> waiters;
  };
  using PortKey = std::pair<std::string, std::uint16_t>;

  std::uint16_t pick_port(const std::string& host);
  Result<std::shared_ptr<Port>> bind(const std::string& host, std::uint16_t port);
  void close(Port& port);
  bool is_reachable(const std::string& a, const std::string& b) const;

  // The end of a handshake. Errors: unavailable (nobody listens, or too many wait to be accepted).
  Result<std::unique_ptr<io::Stream>> establish(const std::string& from, const io::Address& to);
  void forget(std::uint64_t connection) { connections_.erase(connection); }
  void release_held();

  Timeline& timeline_;
  LinkTable links_;
  std::map<std::string, std::uint64_t> lives_;  // hosts, and how often each was killed
  std::map<std::string, std::uint16_t> last_port_;
  std::uint64_t connected_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections_;
  std::map<PortKey, std::shared_ptr<Port>> ports_;
};

class SimNetwork final : public io::Network {
 public:
  SimNetwork(SimFabric& fabric, std::string host);

  Result<std::unique_ptr<io::Listener>> listen(const io::Address& address) override;
  rt::Task<std::unique_ptr<io::Stream>> connect(io::Address address) override;

 private:
  SimFabric& fabric_;
  const std::string host_;
};

}  // namespace leat::sim
