// Pool: the connections of a client, by host, bounded, with a queue of those who want one.
//
// A request takes the idle connection that was used last, or waits. While it waits a connection is
// made for it if the host may have one more; whichever is free first serves the one who has waited
// longest. Making one runs on its own, so that a request's deadline holds while it is under way.
//
// Invariants
// 1. host.open counts connections in use, idle and being made, and never exceeds its bound.
// 2. While requests wait, every connection of the host is in use or being made; an idle one is
//    closed if the first of them insists on a fresh one.
//
// Shard: the client's. Lifetime: close() has returned before it is destroyed.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "httpclient/connection.h"
#include "httpclient/context.h"
#include "httpclient/request.h"
#include "rt/gate.h"

namespace leat::httpclient {

// Whether a connection that has served others will do.
enum class Freshness : std::uint8_t { any, fresh };

struct Host {
  struct Waiter {
    rt::Resume<std::unique_ptr<Connection>> resume;
    Instant deadline;
    Freshness wanted;
  };

  io::Address address;
  const tls::ClientTls* tls = nullptr;
  std::size_t open = 0;
  std::size_t connecting = 0;
  std::size_t idle = 0;
  std::deque<Waiter> waiting;
};

class Pool {
 public:
  // Lifetime: `context` outlives it.
  explicit Pool(Context& context) : context_(context) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Context& context() const { return context_; }

  // Errors: timeout, busy (too many wait), unavailable (refused, closing), denied (TLS), not_found.
  rt::Task<std::unique_ptr<Connection>> acquire(io::Address address, const tls::ClientTls* tls,
                                                Instant deadline, Freshness wanted);

  // For the next request. Requires: the last answer was read to its end.
  void give_back(std::unique_ptr<Connection> connection);

  // Ends what is over: idle connections, waiting, entries of hosts that nobody uses.
  void tend(Instant now);

  // Refuses new requests, ends the waiting, and returns when the last connection is gone.
  rt::Task<void> close();
  rt::Gate& gate() { return gate_; }

 private:
  friend class Connection;
  using Key = std::tuple<std::string, std::uint16_t, const tls::ClientTls*>;
  using Idle = std::list<std::unique_ptr<Connection>>;

  Host& host_of(const io::Address& address, const tls::ClientTls* tls);
  Idle::iterator find_idle(const Host& host);
  std::unique_ptr<Connection> take_idle(Host& host);
  bool drop_idle(Host& host);
  std::unique_ptr<Connection> extract(Idle::iterator at);
  void keep(std::unique_ptr<Connection> connection);
  void hand_over(Host& host, Result<std::unique_ptr<Connection>> result);
  void forget(Host& host);
  void refill(Host& host);
  rt::Task<void> connect(Host& host, rt::Gate::Pass pass);
  rt::Task<std::shared_ptr<io::Stream>> open_stream(const Host& host);

  Context& context_;
  rt::Gate gate_;
  std::map<Key, Host> hosts_;
  Idle idle_;  // of all hosts, the last used first
};

}  // namespace leat::httpclient
