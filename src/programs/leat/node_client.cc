#include "leat/node_client.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "httpclient/client.h"
#include "io/tcp_network.h"
#include "leat/settings.h"
#include "leat/token.h"
#include "rt/runtime.h"

namespace leat::programs {
namespace {

constexpr std::size_t kAnswerMaxBytes = 16 * kMiB;
constexpr Duration kLook = std::chrono::milliseconds(10);

// A client and the shard it lives on, for the time of one question.
class Session {
 public:
  rt::Task<void> run(rt::Shard& shard, httpclient::Request request) {
    shard.spawn(watchdog_.run(), [](const Status&) {});
    shard.spawn(client_.run(), [](const Status&) {});
    const Status asked = co_await ask(std::move(request));
    const Status stopped = co_await client_.stop();
    watchdog_.stop();
    LEAT_CO_DO(Status(stopped ? Status{} : fail(stopped.error())));
    if (!asked) co_return fail(asked.error());
    co_return Status{};
  }

  explicit Session(rt::Shard& shard)
      : network_(shard, {}), client_(shard, network_, clock_, watchdog_, {.period = kLook}) {}

  int status() const { return status_; }
  std::string& body() { return body_; }

 private:
  rt::Task<void> ask(httpclient::Request request) {
    LEAT_CO_TRY(auto response, co_await client_.send(std::move(request)));
    status_ = response.status();
    LEAT_CO_TRY(body_, co_await response.read_all(kAnswerMaxBytes));
    co_return Status{};
  }

  io::RealClock clock_;
  io::TcpNetwork network_;
  io::Watchdog watchdog_{clock_, kLook};
  httpclient::Client client_;
  int status_ = 0;
  std::string body_;
};

// The node's own words for what went wrong.
Error said(int status, const std::string& body) {
  const auto document = nlohmann::json::parse(body, nullptr, false);
  std::string message = fmt::format("the node answered {}", status);
  if (document.is_object() && document.contains("message") && document["message"].is_string()) {
    message = document["message"].get<std::string>();
  }
  switch (status) {
    case 400: return Error(Errc::bad_request, std::move(message));
    case 401:
    case 403:
      return Error(Errc::denied,
                   message + "; --token-file names the token, by default DIR/admin-token");
    case 404: return Error(Errc::not_found, std::move(message));
    case 409:
    case 412: return Error(Errc::conflict, std::move(message));
    case 503: return Error(Errc::unavailable, std::move(message));
    case 507: return Error(Errc::no_space, std::move(message));
    default: return Error(Errc::io, std::move(message));
  }
}

}  // namespace

Result<std::string> ask_node(const config::Config& settings, Question question) {
  LEAT_TRY(const io::Address address, listen_address(settings));
  if (settings.text("tls") != "off") {
    return fail(Errc::not_implemented, "a node with TLS is asked with curl; docs/reference/api.md");
  }
  LEAT_TRY(const auto token, token_from_file(settings));
  httpclient::Request request{.method = std::move(question.method),
                              .address = address,
                              .target = std::move(question.target)};
  if (token) request.fields.push_back({"Authorization", fmt::format("Bearer {}", token->reveal())});
  if (!question.body.empty()) {
    request.fields.push_back({"Content-Type", "application/json"});
    request.body = as_bytes(question.body);
  }
  rt::Runtime runtime(1);
  Session session(runtime.shard(0));
  runtime.start();
  const Status done = runtime.on_every_shard(
      [&](rt::Shard& shard) { return session.run(shard, std::move(request)); });
  runtime.stop();
  if (!done) {
    return fail(done.error().code(), fmt::format("no node answers at {}: {}",
                                                 settings.text("listen"), done.error().detail()));
  }
  if (session.status() >= 300) return fail(said(session.status(), session.body()));
  return std::move(session.body());
}

}  // namespace leat::programs
