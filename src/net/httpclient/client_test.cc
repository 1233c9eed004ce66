#include "httpclient/client.h"

#include <gtest/gtest.h>

#include "httpclient/client_fixture_test.h"
#include "httpclient/exchange.h"

namespace leat::httpclient {
namespace {

using namespace std::chrono_literals;

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class ClientSeeds : public ClientTest, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  ClientSeeds() : ClientTest({}, GetParam()) { world_.fabric().options().short_percent = 60; }
};

TEST_P(ClientSeeds, AnswersOfEveryFramingArriveWholeThroughShortReads) {
  const std::string big(100'000, 'x');
  server_.expect({read_head(), send(kOk), read_head(),
                  send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "3\r\nabc\r\n10;note=1\r\n0123456789abcdef\r\n0\r\nx-sum: 42\r\n\r\n"),
                  read_head(), send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + big),
                  read_head(), send("HTTP/1.0 200 OK\r\n\r\nuntil the end"), close()});
  EXPECT_EQ(tell(get()), "200 ok");
  const auto chunked = run(get());
  EXPECT_EQ(tell(chunked), "200 abc0123456789abcdef");
  EXPECT_EQ(chunked->trailer, "42");
  EXPECT_TRUE(run(get())->body == big);
  EXPECT_EQ(tell(get()), "200 until the end");
  EXPECT_EQ(server_.accepted(), 1U);
  EXPECT_EQ(client_.stats().reused, 3U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClientSeeds, ::testing::Range<std::uint64_t>(1, 9));

TEST_F(ClientTest, TheHeadSaysWhatTheCallerSaidAndAddsHostAndLength) {
  server_.expect({read("body"), send(kOk)});
  Request request = get("/a?b=c");
  request.method = "PUT";
  request.fields = {{"x-one", "1"}};
  request.body = as_bytes("body");
  EXPECT_EQ(tell(std::move(request)), "200 ok");
  EXPECT_EQ(server_.received(0),
            "PUT /a?b=c HTTP/1.1\r\nx-one: 1\r\nHost: server:80\r\nContent-Length: 4\r\n\r\nbody");
}

TEST_F(ClientTest, WhatWouldBreakTheHeadIsRefusedBeforeAnythingIsSent) {
  const auto with = [](Field field) {
    Request request = get();
    request.fields = {std::move(field)};
    return request;
  };
  EXPECT_EQ(tell(with({"x", "a\r\nevil: 1"})), "bad_request");
  EXPECT_EQ(tell(with({"x y", "a"})), "bad_request");
  EXPECT_EQ(tell(with({"content-length", "7"})), "bad_request");
  EXPECT_EQ(tell(with({"Transfer-Encoding", "chunked"})), "bad_request");
  EXPECT_EQ(tell(with({"Upgrade", "h2c"})), "bad_request");
  EXPECT_EQ(tell(get("/a b")), "bad_request");
  EXPECT_EQ(server_.accepted(), 0U);
}

TEST_F(ClientTest, HeadAndNoContentHaveNoBodyAndKeepTheConnection) {
  server_.expect({read_head(), send("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"), read_head(),
                  send("HTTP/1.1 204 No Content\r\n\r\n"), read_head(),
                  send("HTTP/1.1 304 Not Modified\r\n\r\n"), read_head(), send(kOk)});
  Request head = get();
  head.method = "HEAD";
  EXPECT_EQ(tell(std::move(head)), "200 ");
  EXPECT_EQ(tell(get()), "204 ");
  EXPECT_EQ(tell(get()), "304 ");
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(server_.accepted(), 1U);
}

TEST_F(ClientTest, ACutBodyIsAnErrorHoweverItIsFramed) {
  server_.expect({read_head(), send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), close()});
  server_.expect(
      {read_head(), send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha"), close()});
  server_.expect({read_head(),
                  send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nha\r\n"),
                  close()});
  server_.expect({read_head(), send("HTTP/1.1 200 OK\r\nContent-Le"), close()});
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(tell(get()), "closed");
  }
}

TEST_F(ClientTest, WhatIsNotHttpIsAnIoError) {
  server_.expect({read_head(), send("SSH-2.0-OpenSSH_9.2\r\n")});
  server_.expect(
      {read_head(), send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")});
  server_.expect({read_head(), send("HTTP/1.1 200 OK\r\nx: " + std::string(40'000, 'a'))});
  EXPECT_EQ(tell(get()), "io");
  EXPECT_EQ(tell(get()), "io");
  EXPECT_EQ(tell(get()), "io") << "a head that is too large";
}

TEST_F(ClientTest, InterimAnswersAreSkippedButNotForEver) {
  const std::string early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  std::string many;
  for (int i = 0; i <= Exchange::kInterimMax; ++i)
    many += early;
  server_.expect({read_head(), send(early + early + kOk), read_head(), send(many + kOk)});
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(tell(get()), "io");
}

TEST_F(ClientTest, RedirectsAreAnswersLikeOthers) {
  server_.always({read_head(), send("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://x/\r\n"
                                    "Content-Length: 0\r\n\r\n")});
  EXPECT_EQ(tell(get()), "307 ");
  EXPECT_EQ(server_.accepted(), 1U);
}

TEST_F(ClientTest, ABodyLargerThanWantedIsRefused) {
  server_.always({read_head(), send("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n")});
  EXPECT_EQ(tell(get()), "too_large");
}

TEST_F(ClientTest, RefusedAndUnknownHostsAreToldApart) {
  Request refused = get();
  refused.address.port = 81;
  Request unknown = get();
  unknown.address.host = "nowhere";
  EXPECT_EQ(tell(std::move(refused)), "unavailable");
  EXPECT_EQ(tell(std::move(unknown)), "not_found");
}

TEST_F(ClientTest, ASilentServerEndsInATimeoutOnTheVirtualClock) {
  const Instant start = world_.now();
  EXPECT_EQ(tell(get()), "timeout");
  EXPECT_GE(world_.now() - start, 30s);
  EXPECT_LT(world_.now() - start, 31s);
}

TEST_F(ClientTest, ADeadlineHoldsInEveryPhase) {
  const auto in_a_second = [this] {
    Request request = get();
    request.deadline = world_.now() + 1s;
    return request;
  };
  const Instant start = world_.now();
  EXPECT_EQ(tell(in_a_second()), "timeout") << "no answer";
  server_.expect({read_head(), send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")});
  EXPECT_EQ(tell(in_a_second()), "timeout") << "half an answer";
  world_.fabric().partition("client", "server");
  EXPECT_EQ(tell(in_a_second()), "timeout") << "no connection";
  EXPECT_LT(world_.now() - start, 5s);
  world_.fabric().heal_all();
  Request late = get();
  late.deadline = world_.now();
  EXPECT_EQ(tell(std::move(late)), "timeout") << "too late before it began";
}

rt::Task<void> read_one_byte(Client& client, Request request, std::size_t& left) {
  LEAT_CO_TRY(Response response, co_await client.send(std::move(request)));
  std::array<std::byte, 1> byte;
  LEAT_CO_TRY(left, co_await response.read(byte));
  co_return Status{};
}

TEST_F(ClientTest, AResponseDroppedInMidBodyClosesItsConnection) {
  server_.always({read_head(), send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")});
  std::size_t got = 0;
  ASSERT_TRUE(world_.run(read_one_byte(client_, get(), got)));
  EXPECT_EQ(got, 1U);
  EXPECT_EQ(client_.stats().connections, 0U);
}

TEST_F(ClientTest, AStoppedClientRefusesRequests) {
  EXPECT_TRUE(world_.run(client_.stop()));
  EXPECT_EQ(tell(get()), "unavailable");
}

TEST(ClientOverTls, RequestsAndReuseWorkAsOnPlainConnections) {
  sim::SimWorld world(3);
  world.fabric().options().short_percent = 30;
  io::SeededRng rng(1);
  const std::vector<std::string> names = {"server"};
  const auto identity =
      tls::ServerIdentity::make_self_signed(names, world.clock("server").wall_now(), rng).value();
  const tls::ServerTls server_tls(identity);
  ScriptedServer server(world, {"server", 443}, &server_tls);
  server.always({read_head(), send(kOk), read_head(), send(kOk)});
  const auto right = tls::ClientTls::trusting_fingerprint(identity.fingerprint());
  const auto wrong = tls::ClientTls::trusting_fingerprint(tls::Fingerprint{});
  io::Watchdog watchdog(world.clock("client"), 100ms);
  Client client(world.shard(), world.network("client"), world.clock("client"), watchdog);
  const auto ask = [&](const tls::ClientTls& trust) {
    Request request{.address = {"server", 443}, .tls = &trust};
    return world.run(fetch(client, std::move(request)));
  };
  EXPECT_EQ(ask(right)->body, "ok");
  EXPECT_EQ(ask(right)->body, "ok");
  EXPECT_EQ(server.accepted(), 1U);
  EXPECT_EQ(ask(wrong).error().code(), Errc::denied);
  EXPECT_TRUE(world.run(client.stop()));
}

}  // namespace
}  // namespace leat::httpclient
