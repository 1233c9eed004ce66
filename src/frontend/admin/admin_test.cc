#include "admin/admin.h"

#include <gtest/gtest.h>

#include <string>

#include "support/http_world.h"

namespace leat::admin {
namespace {

using http::AuthKind;
using testing::Answer;
using testing::HttpWorld;
using testing::RawClient;

const log::Secret kToken{"0123456789abcdef"};
const io::Address kHere{"127.0.0.1", 50000};
const io::Address kElsewhere{"10.0.0.7", 50000};

// Whom a request with these fields comes from.
Result<AuthKind> who(std::string_view fields, const io::Address& peer) {
  const std::string text = "GET /metrics HTTP/1.1\r\n" + std::string(fields) + "\r\n";
  http1::RequestHead head;
  http1::RequestParser parser;
  EXPECT_EQ(parser.parse(text, head).value(), text.size()) << text;
  auto found = TokenAuthenticator(kToken).authenticate(head, peer);
  if (!found) return fail(std::move(found).error().error);
  return found->kind;
}

constexpr std::string_view kLocal = "Host: localhost:9000\r\n";

TEST(TokenAuthenticator, TheTokenMakesAnAdminFromAnywhere) {
  const std::string good = "Host: leat\r\nAuthorization: Bearer 0123456789abcdef\r\n";
  EXPECT_EQ(who(good, kElsewhere).value(), AuthKind::admin_token);
  EXPECT_EQ(who(good, kHere).value(), AuthKind::admin_token);
}

TEST(TokenAuthenticator, WrongCredentialsAreNoKindNotEvenFromThisMachine) {
  for (const std::string_view value :
       {"Bearer 0123456789abcdeF", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer x",
        "Bearer", "", "Basic 0123456789abcdef", "0123456789abcdef", "Bearer  0123456789abcdef"}) {
    const auto kind =
        who(std::string(kLocal) + "Authorization: " + std::string(value) + "\r\n", kHere);
    ASSERT_FALSE(kind.has_value()) << value;
    EXPECT_TRUE(kind.error().code() == Errc::denied || kind.error().code() == Errc::unauthenticated)
        << value;
  }
}

TEST(TokenAuthenticator, TwoCredentialsAreRefusedEvenIfOneIsGood) {
  const auto kind =
      who("Host: leat\r\nAuthorization: Bearer 0123456789abcdef\r\nAuthorization: Bearer x\r\n",
          kElsewhere);
  EXPECT_EQ(kind.error().code(), Errc::bad_request);
}

TEST(TokenAuthenticator, AnErrorDoesNotRepeatTheSecret) {
  const auto kind = who("Host: leat\r\nAuthorization: Bearer wrong\r\n", kElsewhere);
  EXPECT_EQ(kind.error().message().find("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(kind.error().message().find("wrong"), std::string::npos);
}

TEST(TokenAuthenticator, ThisMachineIsKnownByPeerAndHost) {
  for (const std::string_view host :
       {"localhost", "localhost:9000", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:9000"}) {
    const std::string field = "Host: " + std::string(host) + "\r\n";
    EXPECT_EQ(who(field, kHere).value(), AuthKind::same_machine) << host;
    EXPECT_EQ(who(field, {"::1", 1}).value(), AuthKind::same_machine) << host;
    EXPECT_EQ(who(field, {"::ffff:127.0.0.1", 1}).value(), AuthKind::same_machine) << host;
    EXPECT_EQ(who(field, kElsewhere).value(), AuthKind::anonymous) << host;
  }
}

// A name of the attacker's that resolves to this machine, a page of another site, a proxy.
TEST(TokenAuthenticator, WhoSpeaksForOthersIsAnonymous) {
  for (const std::string_view host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:9000",
        "10.0.0.7", "[::2]", "0.0.0.0"}) {
    EXPECT_EQ(who("Host: " + std::string(host) + "\r\n", kHere).value(), AuthKind::anonymous)
        << host;
  }
  for (const std::string_view field :
       {"X-Forwarded-For: 10.0.0.7", "Forwarded: for=10.0.0.7", "x-forwarded-host: a",
        "X-Forwarded-Proto: https", "Via: 1.1 proxy", "X-Real-IP: 10.0.0.7",
        "Origin: http://evil.example", "Origin: null"}) {
    EXPECT_EQ(who(std::string(kLocal) + std::string(field) + "\r\n", kHere).value(),
              AuthKind::anonymous)
        << field;
  }
}

class PagesTest : public ::testing::Test {
 protected:
  PagesTest() {
    testing::HttpWorldOptions options;
    options.router = &router;
    http = std::make_unique<HttpWorld>(options);
    ready = std::make_unique<Ready>(http->context.draining);
    metrics = std::make_unique<Metrics>(http->registry);
    http->handle(http::Operation::health, health);
    http->handle(http::Operation::ready, *ready);
    http->handle(http::Operation::version, version);
    http->handle(http::Operation::metrics, *metrics);
  }

  Answer ask(std::string_view method, std::string_view path, std::string_view fields = "") {
    RawClient client(*http);
    return client.ask(std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: s\r\n" +
                          std::string(fields) + "\r\n",
                      method == "HEAD" ? "H" : "");
  }

  AdminRouter router;
  Health health;
  Version version{"1.2.3"};
  std::unique_ptr<Ready> ready;
  std::unique_ptr<Metrics> metrics;
  std::unique_ptr<HttpWorld> http;
};

TEST_F(PagesTest, SayWhatTheyAreFor) {
  EXPECT_EQ(ask("GET", "/_/v1/health").body, "{\"status\":\"alive\"}\n");
  EXPECT_EQ(ask("GET", "/_/v1/ready").body, "{\"status\":\"ready\"}\n");
  EXPECT_EQ(ask("GET", "/_/v1/version").body,
            "{\"api\":\"v1\",\"name\":\"leat\",\"version\":\"1.2.3\"}\n");
  EXPECT_EQ(ask("HEAD", "/_/v1/health").status, 200);
}

TEST_F(PagesTest, MetricsCountTheRequestsBeforeThem) {
  EXPECT_EQ(ask("GET", "/_/v1/health").status, 200);
  for (const std::string_view path : {"/metrics", "/_/v1/metrics"}) {
    const Answer answer = ask("GET", path);
    EXPECT_EQ(answer.field("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_NE(answer.body.find("leat_http_requests_total{operation=\"health\",status=\"2xx\"} 1\n"),
              std::string::npos)
        << answer.body;
  }
}

// Abuse case 52.
TEST_F(PagesTest, MetricsAreNotForEverybody) {
  EXPECT_EQ(ask("GET", "/metrics", "x-auth: anonymous\r\n").status, 401);
  const Answer refused = ask("GET", "/_/v1/metrics", "x-auth: anonymous\r\n");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.field("www-authenticate"), "Bearer");
  EXPECT_EQ(ask("GET", "/_/v1/health", "x-auth: anonymous\r\n").status, 200);
}

TEST_F(PagesTest, OnlyReadingIsServedAndOnlyOnTheirPaths) {
  for (const std::string_view method : {"PUT", "POST", "DELETE", "OPTIONS"}) {
    EXPECT_EQ(ask(method, "/_/v1/health").status, 405) << method;
    EXPECT_EQ(ask(method, "/_/v1/health").field("allow"), "GET, HEAD") << method;
  }
  for (const std::string_view path : {"/", "/_/v1/", "/_/v1/health/", "/_/v1/Health",
                                      "/_/v1/%68ealth", "/_/v2/health", "//_/v1/health"}) {
    EXPECT_EQ(ask("GET", path).status, 404) << path;
  }
}

TEST_F(PagesTest, NotReadyWhileDraining) {
  RawClient client(*http);
  client.send("GET /_/v1/ready HTTP/1.1\r\n");
  http->world.run_for(std::chrono::seconds(1));
  http->world.spawn(http->server->drain(std::chrono::seconds(10)), [](const Status&) {});
  client.send("Host: s\r\n\r\n");
  ASSERT_TRUE(client.wait_answers(1));
  EXPECT_EQ(client.answers().statuses(), "503");
}

}  // namespace
}  // namespace leat::admin
