// Client: sends HTTP/1.1 requests over pooled connections, for calls between nodes and for tests.
//
//   Request request{.method = "PUT", .address = {"node-2", 9000}, .target = "/a", .body = bytes};
//   LEAT_CO_TRY(Response response, co_await client.send(std::move(request)));
//   LEAT_CO_TRY(std::string body, co_await response.read_all(kMiB));
//
// Redirects are never followed. Every wait has a limit: a request that cannot be answered ends with
// an error, and a body that was cut is one, too.
//
// A pooled connection may die while it rests. A request that fails on one before any byte of an
// answer is sent once more on a fresh connection, if that does no harm: the method is idempotent,
// and the body is none or in memory.
//
// Shard: one. Lifetime: stop() has returned before it is destroyed.
#pragma once

#include "httpclient/context.h"
#include "httpclient/pool.h"
#include "httpclient/request.h"
#include "httpclient/response.h"

namespace leat::httpclient {

class Client {
 public:
  // Lifetime: what it refers to outlives it. Requires: the watchdog runs.
  Client(rt::Shard& shard, io::Network& network, io::Clock& clock, io::Watchdog& watchdog,
         Options options = {});

  // Returns when the head of the final answer is there, whatever its status.
  // Errors: bad_request (the request cannot be written), unavailable (refused, or stopping),
  // not_found (no such host), busy (too many wait), denied (TLS: not the right server), timeout,
  // closed, io (what was answered is not HTTP), and what the body's source answers.
  rt::Task<Response> send(Request request);

  // Looks after idle connections and those who wait, until stop(). Spawn it once.
  rt::Task<void> run();

  // Refuses new requests; returns when all responses and connections are gone and run() has ended.
  rt::Task<void> stop();

  const Stats& stats() const { return context_.stats; }

 private:
  struct Attempt;

  rt::Task<void> attempt(Attempt& attempt, const Request& request, std::string_view head);

  Context context_;
  Pool pool_;
};

}  // namespace leat::httpclient
