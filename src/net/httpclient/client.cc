#include "httpclient/client.h"

#include "httpclient/exchange.h"

namespace leat::httpclient {

// One try on one connection, and what it came to.
struct Client::Attempt {
  Freshness wanted = Freshness::any;
  bool may_repeat = false;  // it failed on a connection that had rested, before any answer
  std::optional<Response> response;
};

Client::Client(rt::Shard& shard, io::Network& network, io::Clock& clock, io::Watchdog& watchdog,
               Options options)
    : context_{.shard = shard,
               .network = network,
               .clock = clock,
               .watchdog = watchdog,
               .options = options,
               .stats = {}},
      pool_(context_) {}

rt::Task<Response> Client::send(Request request) {
  LEAT_CO_TRY(const std::string head, write_head(request));
  Attempt first;
  Status done = co_await attempt(first, request, head);
  if (done) co_return std::move(*first.response);
  if (!first.may_repeat || !is_replayable(request)) co_return fail(std::move(done).error());
  ++context_.stats.retried;
  Attempt second{.wanted = Freshness::fresh, .may_repeat = false, .response = {}};
  LEAT_CO_DO(co_await attempt(second, request, head));
  co_return std::move(*second.response);
}

rt::Task<void> Client::attempt(Attempt& attempt, const Request& request, std::string_view head) {
  LEAT_CO_TRY(auto connection, co_await pool_.acquire(request.address, request.tls,
                                                      request.deadline, attempt.wanted));
  if (connection->is_used()) ++context_.stats.reused;
  Exchange exchange(*connection, request);
  Status done = co_await exchange.run(head);
  if (!done) {
    const Errc code = done.error().code();
    attempt.may_repeat = connection->is_used() && !exchange.heard_something() &&
                         (code == Errc::closed || code == Errc::io);
    co_return done;
  }
  attempt.response.emplace(std::move(connection), exchange.take_answer(), exchange.sent_all(),
                           request.deadline);
  co_return Status{};
}

rt::Task<void> Client::run() {
  LEAT_CO_TRY(const rt::Gate::Pass pass, pool_.gate().enter());
  while (!pool_.gate().is_closing()) {
    LEAT_CO_DO(co_await context_.clock.sleep_until(context_.clock.now() + context_.options.period));
    pool_.tend(context_.clock.now());
  }
  co_return Status{};
}

rt::Task<void> Client::stop() {
  co_return co_await pool_.close();
}

}  // namespace leat::httpclient
