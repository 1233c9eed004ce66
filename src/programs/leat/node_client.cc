#include "leat/node_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "httpclient/client.h"
#include "io/tcp_network.h"
#include "leat/client_settings.h"
#include "leat/running_nodes.h"
#include "leat/settings.h"
#include "leat/table.h"
#include "leat/token.h"
#include "rt/runtime.h"
#include "s3client/refusal.h"

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

std::string origin_of(const config::Config& settings, std::string_view key) {
  const auto entries = settings.entries();
  const auto found = std::ranges::find(entries, key, &config::Entry::key);
  return found == entries.end() ? std::string() : found->origin;
}

// The only node that this user runs here.
std::optional<RunningNode> noted_node(const Invocation& invocation) {
  io::PosixDisk disk;
  auto nodes = running_nodes(disk, state_folder(invocation));
  if (nodes.size() != 1) return std::nullopt;
  return std::move(nodes.front());
}

}  // namespace

Result<NodeAddress> find_node(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const auto settings, load_settings(invocation, arguments.settings));
  LEAT_TRY(ServiceSettings service, service_settings(invocation, arguments));
  const std::string listen = origin_of(settings, "listen");
  const bool is_told = !service.url.empty() || listen != "default";
  const auto noted = is_told ? std::nullopt : noted_node(invocation);
  if (noted) {
    service.url = noted->file.url;
    if (service.ca_file.empty()) service.ca_file = noted->file.ca_file;
  } else if (service.url.empty() || listen == "--listen") {
    LEAT_TRY(const io::Address address, listen_address(settings));
    const std::string_view scheme = settings.text("tls") == "off" ? "http" : "https";
    service.url = fmt::format("{}://{}", scheme, address.to_string());
  }
  NodeAddress node{.ca_file = std::move(service.ca_file)};
  LEAT_TRY(node.endpoint, s3client::parse_endpoint(service.url));
  LEAT_TRY(node.token, token_from_file(settings));
  if (noted && !node.token) {
    // Who may not read it is told by the node what is missing.
    if (auto own = read_token(noted->directory + "/admin-token")) node.token = std::move(*own);
  }
  return node;
}

Result<std::string> ask_node(const NodeAddress& node, Question question) {
  io::RealClock clock;
  LEAT_TRY(const auto tls, client_tls(node.endpoint, node.ca_file, clock));
  httpclient::Request request{.method = std::move(question.method),
                              .address = node.endpoint.address,
                              .tls = tls ? &*tls : nullptr,
                              .target = std::move(question.target)};
  if (node.token) {
    request.fields.push_back({"Authorization", fmt::format("Bearer {}", node.token->reveal())});
  }
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
  if (!done) return fail(s3client::unreachable(node.endpoint.url, done.error()));
  if (session.status() >= 300) return fail(said(session.status(), session.body()));
  return std::move(session.body());
}

}  // namespace leat::programs
