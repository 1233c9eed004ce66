#include "httpclient/pool.h"

#include <gtest/gtest.h>

#include "httpclient/client_fixture_test.h"

namespace leat::httpclient {
namespace {

using namespace std::chrono_literals;

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

Options small_options() {
  Options options;
  options.connections_max_per_host = 3;
  options.waiting_max_per_host = 60;
  options.idle_max_per_host = 2;
  options.idle_max_total = 3;
  return options;
}

// Answers that take a while, as many as may come.
Script answers(int count) {
  Script script;
  for (int i = 0; i < count; ++i) {
    script.push_back(read_head());
    script.push_back(send(kOk));
  }
  return script;
}

class PoolTest : public ClientTest {
 protected:
  explicit PoolTest(std::uint64_t seed = 5) : ClientTest(small_options(), seed) {}

  Request post() {
    Request request = get();
    request.method = "POST";
    request.body = as_bytes("x");
    return request;
  }

  // Starts requests at once and waits for all; how often each outcome came.
  std::map<std::string, int> run_many(int count, Duration limit = 1h) {
    std::map<std::string, int> outcomes;
    int done = 0;
    for (int i = 0; i < count; ++i) {
      auto keep = std::make_shared<std::string>();
      world_.spawn(tell_into(client_, get(), keep), [&, keep](const Status&) {
        ++outcomes[*keep];
        ++done;
      });
    }
    EXPECT_TRUE(world_.run_until([&] { return done == count; }, limit));
    return outcomes;
  }

  static rt::Task<void> tell_into(Client& client, Request request,
                                  std::shared_ptr<std::string> to) {
    auto result = co_await fetch(client, std::move(request));
    *to = tell(result);
    co_return Status{};
  }
};

class PoolSeeds : public PoolTest, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  PoolSeeds() : PoolTest(GetParam()) { world_.fabric().options().short_percent = 50; }
};

TEST_P(PoolSeeds, ManyRequestsShareFewConnections) {
  server_.always(answers(100));
  const auto outcomes = run_many(50);
  EXPECT_EQ(outcomes, (std::map<std::string, int>{{"200 ok", 50}}));
  EXPECT_EQ(server_.open_most(), 3U);
  EXPECT_EQ(client_.stats().opened, 3U);
  EXPECT_EQ(client_.stats().reused, 47U);
  EXPECT_EQ(client_.stats().idle, 2U) << "the third was one too many to keep";
}

TEST_P(PoolSeeds, ServersThatCloseAfterEachAnswerLoseNoRequest) {
  server_.always({read_head(),
                  send("HTTP/1.1 200 OK\r\nConnection: close\r\n"
                       "Content-Length: 2\r\n\r\nok"),
                  close()});
  EXPECT_EQ(run_many(30), (std::map<std::string, int>{{"200 ok", 30}}));
  EXPECT_EQ(server_.accepted(), 30U);
  EXPECT_LE(server_.open_most(), 4U) << "an end that is still on its way counts at the server";
}

TEST_P(PoolSeeds, RudeServersThatCloseWithoutSayingSoLoseNoIdempotentRequest) {
  server_.always({read_head(), send(kOk), close()});
  EXPECT_EQ(run_many(30), (std::map<std::string, int>{{"200 ok", 30}}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, PoolSeeds, ::testing::Range<std::uint64_t>(1, 9));

TEST_F(PoolTest, TooManyWaitersAreRefused) {
  server_.always(answers(100));
  const auto outcomes = run_many(70);
  EXPECT_EQ(outcomes, (std::map<std::string, int>{{"200 ok", 60}, {"busy", 10}}));
}

TEST_F(PoolTest, WaitersOfARefusingHostAllHearOfIt) {
  Request request = get();
  request.address.port = 81;
  std::vector<std::shared_ptr<std::string>> told;
  for (int i = 0; i < 10; ++i) {
    told.push_back(std::make_shared<std::string>());
    Request copy = request;
    world_.spawn(tell_into(client_, std::move(copy), told.back()), [](const Status&) {});
  }
  world_.run_for(1s);
  for (const auto& text : told) {
    EXPECT_EQ(*text, "unavailable");
  }
}

TEST_F(PoolTest, WaitingForAConnectionHasALimit) {
  const auto outcomes = run_many(10);
  EXPECT_EQ(outcomes, (std::map<std::string, int>{{"timeout", 10}}));
}

TEST_F(PoolTest, AConnectionThatDiedWhileIdleIsNoticedBeforeItIsUsed) {
  server_.expect({read_head(), send(kOk), close()});
  server_.expect(answers(2));
  EXPECT_EQ(tell(get()), "200 ok");
  world_.run_for(1s);
  EXPECT_EQ(tell(post()), "200 ok");
  EXPECT_EQ(client_.stats().reused, 0U);
  EXPECT_EQ(client_.stats().retried, 0U);
}

TEST_F(PoolTest, ARequestOnAConnectionThatDiesUnderItIsSentAgainIfThatDoesNoHarm) {
  server_.expect({read_head(), send(kOk), read_head(), close()});
  server_.expect({read_head(), send(kOk), read_head(), close()});
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(tell(get()), "200 ok") << "sent again on the second connection";
  EXPECT_EQ(client_.stats().retried, 1U);
  EXPECT_EQ(tell(post()), "closed") << "a POST may have been carried out";
  EXPECT_EQ(client_.stats().retried, 1U);
  EXPECT_EQ(server_.accepted(), 2U);
}

TEST_F(PoolTest, ARequestIsSentAgainOnlyOnceAndNeverOnAFreshConnection) {
  server_.expect({read_head(), send(kOk), read_head(), close()});
  server_.always({read_head(), close()});
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(tell(get()), "closed");
  EXPECT_EQ(server_.accepted(), 2U);
  EXPECT_EQ(tell(get()), "closed");
  EXPECT_EQ(server_.accepted(), 3U);
}

TEST_F(PoolTest, ARequestThatWasPartlyAnsweredIsNotSentAgain) {
  server_.expect({read_head(), send(kOk), read_head(), send("HTTP/1.1 2"), close()});
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(tell(get()), "closed");
  EXPECT_EQ(server_.accepted(), 1U);
}

TEST_F(PoolTest, BytesAfterAnAnswerEndTheConnection) {
  server_.expect({read_head(), send(kOk + "HTTP/1.1 200 OK\r\n")});
  server_.expect(answers(1));
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(client_.stats().connections, 0U);
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(server_.accepted(), 2U);
}

TEST_F(PoolTest, BytesBetweenTwoRequestsEndTheConnection) {
  server_.expect({read_head(), send(kOk), send("HTTP/1.1 408 Request Timeout\r\n\r\n")});
  server_.expect(answers(1));
  EXPECT_EQ(tell(get()), "200 ok");
  world_.run_for(1s);
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(server_.accepted(), 2U);
}

TEST_F(PoolTest, AnIdleConnectionIsClosedAfterItsTime) {
  server_.always(answers(2));
  EXPECT_EQ(tell(get()), "200 ok");
  world_.run_for(29s);
  EXPECT_EQ(client_.stats().idle, 1U);
  world_.run_for(2s);
  EXPECT_EQ(client_.stats().connections, 0U);
  EXPECT_EQ(server_.open(), 0U);
}

TEST_F(PoolTest, IdleConnectionsOfAllHostsTogetherAreBounded) {
  std::vector<std::unique_ptr<ScriptedServer>> servers;
  for (int i = 0; i < 5; ++i) {
    const io::Address address{"host-" + std::to_string(i), 80};
    servers.push_back(std::make_unique<ScriptedServer>(world_, address));
    servers.back()->always(answers(2));
    Request request = get();
    request.address = address;
    EXPECT_EQ(tell(std::move(request)), "200 ok");
  }
  EXPECT_EQ(client_.stats().idle, 3U);
  world_.run_for(1s);
  EXPECT_EQ(servers[0]->open(), 0U) << "the one that was not used for longest goes first";
  EXPECT_EQ(servers[1]->open(), 0U);
  EXPECT_EQ(servers[4]->open(), 1U);
  EXPECT_TRUE(world_.run(client_.stop()));
}

TEST_F(PoolTest, StoppingEndsThoseWhoWait) {
  std::map<std::string, int> outcomes;
  for (int i = 0; i < 5; ++i) {
    auto told = std::make_shared<std::string>();
    world_.spawn(tell_into(client_, get(), told),
                 [&outcomes, told](const Status&) { ++outcomes[*told]; });
  }
  world_.run_for(1s);
  EXPECT_TRUE(world_.run(client_.stop()));
  EXPECT_EQ(outcomes, (std::map<std::string, int>{{"cancelled", 2}, {"timeout", 3}}));
}

}  // namespace
}  // namespace leat::httpclient
