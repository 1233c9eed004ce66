#include <gtest/gtest.h>

#include <string>

#include "support/http_world.h"

namespace leat::http {
namespace {

using namespace std::chrono_literals;
using testing::HttpWorld;
using testing::RawClient;

constexpr std::string_view kGet = "GET /read_file HTTP/1.1\r\nHost: server\r\n\r\n";

rt::Task<Response> answer_at(io::Clock& clock, Duration after) {
  const Instant when = clock.now() + after;
  LEAT_CO_DO(co_await clock.sleep_until(when));
  co_return Response::text(200, "text/plain", "late");
}

class DrainTest : public ::testing::Test {
 protected:
  DrainTest() {
    http.handle(Operation::read_file,
                [this](Exchange&) { return answer_at(http.world.clock("server"), answer_after); });
  }

  void drain(Duration limit) {
    http.world.spawn(http.server->drain(limit), [this](const Status& status) {
      EXPECT_TRUE(status);
      drained = true;
    });
  }

  Duration answer_after = 2s;
  bool drained = false;
  HttpWorld http;
};

TEST_F(DrainTest, ARequestInFlightIsAnsweredAndTheConnectionClosed) {
  RawClient client(http);
  client.send(std::string(kGet) + std::string(kGet));
  http.world.run_for(1s);
  drain(10s);
  http.world.run_for(500ms);
  EXPECT_FALSE(drained);
  ASSERT_TRUE(client.wait_end());
  const auto answers = client.answers();
  ASSERT_EQ(answers.statuses(), "200") << "the pipelined one is not begun any more";
  EXPECT_EQ(answers.whole[0].field("connection"), "close");
  client.leave();
  http.world.run_for(3s);
  EXPECT_TRUE(drained);
}

TEST_F(DrainTest, IdleConnectionsAreClosedAtOnceAndNewOnesRefused) {
  RawClient used(http);
  EXPECT_EQ(used.ask(kGet).status, 200);
  RawClient silent(http);
  http.world.run_for(1s);
  drain(10s);
  http.world.run_for(10ms);
  EXPECT_TRUE(used.ended());
  EXPECT_TRUE(silent.ended());
  EXPECT_TRUE(drained);
  RawClient late(http);
  EXPECT_FALSE(late.is_connected());
}

TEST_F(DrainTest, AHalfSentHeadIsWaitedForAndAnswered) {
  RawClient client(http);
  client.send(kGet.substr(0, 10));
  http.world.run_for(1s);
  drain(10s);
  http.world.run_for(1s);
  EXPECT_FALSE(drained);
  client.send(kGet.substr(10));
  ASSERT_TRUE(client.wait_end());
  EXPECT_EQ(client.answers().statuses(), "200");
}

rt::Task<Response> read_body(Exchange& exchange) {
  std::array<std::byte, 100> buffer;
  while (true) {
    LEAT_CO_TRY(const std::size_t got, co_await exchange.body.read(buffer));
    if (got == 0) co_return Response(200);
  }
}

TEST_F(DrainTest, WhatIsLeftAtTheLimitIsCut) {
  http.handle(Operation::write_file, [](Exchange& exchange) { return read_body(exchange); });
  RawClient client(http);
  client.send("PUT /write_file HTTP/1.1\r\nHost: server\r\nContent-Length: 1000\r\n\r\nsome");
  http.world.run_for(1s);
  drain(10s);
  http.world.run_for(9s);
  EXPECT_FALSE(drained);
  http.world.run_for(2s);
  EXPECT_TRUE(drained);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(client.received(), "");
}

TEST_F(DrainTest, DrainingWithNobodyThereIsQuick) {
  const Instant start = http.world.now();
  EXPECT_TRUE(http.world.run(http.server->drain(10s)));
  EXPECT_LE(http.world.now() - start, 1ms);
}

// The world goes on after the server: nothing of it may wake later. The address sanitizer looks.
TEST_F(DrainTest, ADrainedServerMayBeDestroyedAtOnce) {
  auto client = std::make_unique<RawClient>(http);
  EXPECT_TRUE(http.world.run(http.server->drain(10s)));
  http.server.reset();
  http.world.run_for(1min);
}

// A listener that fails now and then, as kernels pass on errors of connections that died early.
class FlakyListener final : public io::Listener {
 public:
  explicit FlakyListener(std::unique_ptr<io::Listener> real) : real_(std::move(real)) {}

  rt::Task<std::unique_ptr<io::Stream>> accept() override {
    if (failures_left_-- > 0) co_return fail(Errc::io, "network is down");
    co_return co_await real_->accept();
  }
  void close() override { real_->close(); }
  const io::Address& address() const override { return real_->address(); }

 private:
  std::unique_ptr<io::Listener> real_;
  int failures_left_ = 3;
};

TEST_F(DrainTest, AListenerThatFailsForAWhileIsAskedAgain) {
  auto real = http.world.network("server").listen({"server", 81}).value();
  http.server->serve(std::make_unique<FlakyListener>(std::move(real)));
  http.world.run_for(1s);
  auto stream = http.world.run(http.world.network("client").connect({"server", 81})).value();
  http.world.run_for(1s);
  EXPECT_EQ(http.server->connections(), 1U);
}

}  // namespace
}  // namespace leat::http
