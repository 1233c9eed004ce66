#include "sim/sim_network.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/world.h"

namespace leat::sim {
namespace {

using namespace std::chrono_literals;
using io::Interest;
using StreamPtr = std::unique_ptr<io::Stream>;

class SimNetworkTest : public ::testing::Test {
 protected:
  SimNetworkTest() {
    listener = world.network("server").listen({"server", 80}).value();
    world.network("client");
  }

  StreamPtr connect() { return world.run(world.network("client").connect({"server", 80})).value(); }
  StreamPtr accept() { return world.run(listener->accept()).value(); }

  std::size_t write(io::Stream& stream, std::string_view text) {
    const Bytes piece = as_bytes(text);
    return stream.try_write(std::span(&piece, 1), io::Flush::now).value();
  }

  Errc write_error(io::Stream& stream) {
    const Bytes piece = as_bytes("x");
    return stream.try_write(std::span(&piece, 1), io::Flush::now).error().code();
  }

  Errc read_error(io::Stream& stream) {
    std::byte byte{};
    return stream.try_read(std::span(&byte, 1)).error().code();
  }

  // Everything that has arrived.
  std::string read(io::Stream& stream) {
    std::string text(1 << 20, '?');
    const auto count = stream.try_read(std::as_writable_bytes(std::span(text)));
    if (!count) return std::string("error: ") + std::string(traits(count.error().code()).name);
    return text.substr(0, *count);
  }

  // Starts a wait and says how it ended, once it has.
  std::shared_ptr<std::optional<Errc>> start_wait(io::Stream& stream, Interest interest) {
    auto code = std::make_shared<std::optional<Errc>>();
    world.spawn(stream.wait(interest), [code](const Status& status) {
      *code = status ? Errc::internal : status.error().code();
    });
    return code;
  }

  SimWorld world{7};
  std::unique_ptr<io::Listener> listener;
};

TEST_F(SimNetworkTest, BytesArriveInOrderAfterTheLatency) {
  auto client = connect();
  auto server = accept();
  EXPECT_EQ(server->peer().host, "client");
  EXPECT_EQ(client->peer(), (io::Address{"server", 80}));
  EXPECT_FALSE(client->can_send_file());
  write(*client, "first ");
  write(*client, "second");
  EXPECT_EQ(read(*server), "error: would_block");
  world.run_for(world.fabric().options().latency - 1ns);
  EXPECT_EQ(read(*server), "error: would_block");
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(read(*server), "first second");
}

TEST_F(SimNetworkTest, ConnectingFailsAsItWouldOnAMachine) {
  SimNetwork& client = world.network("client");
  EXPECT_EQ(world.run(client.connect({"server", 81})).error().code(), Errc::unavailable);
  EXPECT_EQ(world.run(client.connect({"nowhere", 80})).error().code(), Errc::not_found);
  EXPECT_EQ(world.run(client.connect({"localhost", 80})).error().code(), Errc::unavailable);
  EXPECT_TRUE(world.run(world.network("server").connect({"127.0.0.1", 80})));
  listener->close();
  EXPECT_EQ(world.run(client.connect({"server", 80})).error().code(), Errc::unavailable);
  EXPECT_EQ(world.run(listener->accept()).error().code(), Errc::closed);
}

TEST_F(SimNetworkTest, APortIsTakenOnceAndChosenWhenZeroIsAsked) {
  SimNetwork& server = world.network("server");
  EXPECT_EQ(server.listen({"0.0.0.0", 80}).error().code(), Errc::conflict);
  EXPECT_EQ(server.listen({"client", 81}).error().code(), Errc::bad_request);
  auto first = server.listen({"localhost", 0}).value();
  auto second = server.listen({"localhost", 0}).value();
  EXPECT_NE(first->address().port, 0);
  EXPECT_NE(first->address(), second->address());
  listener.reset();
  EXPECT_TRUE(server.listen({"server", 80}));
}

TEST_F(SimNetworkTest, AFullPipeHoldsTheWriterBackUntilTheReaderReads) {
  world.fabric().options().buffer_bytes = 10;
  auto client = connect();
  auto server = accept();
  EXPECT_EQ(write(*client, "0123456789abc"), 10U);
  EXPECT_EQ(write_error(*client), Errc::would_block);
  auto waited = start_wait(*client, Interest::write);
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_FALSE(waited->has_value()) << "arrived but unread bytes still fill the pipe";
  std::array<std::byte, 4> part{};
  EXPECT_EQ(server->try_read(part).value(), 4U);
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(*waited, Errc::internal) << "the wait ended without an error";
  EXPECT_EQ(write(*client, "abcdef"), 4U);
}

TEST_F(SimNetworkTest, FinishedWritingIsReadAsAnEndWhileTheOtherDirectionGoesOn) {
  auto client = connect();
  auto server = accept();
  write(*client, "question");
  client->finish_writing();
  EXPECT_EQ(write_error(*client), Errc::closed);
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(read(*server), "question");
  EXPECT_EQ(read(*server), "");
  write(*server, "answer");
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(read(*client), "answer");
}

TEST_F(SimNetworkTest, ADroppedStreamEndsCleanlyButResetsTheOneWhoWritesOn) {
  auto client = connect();
  auto server = accept();
  server.reset();
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(read(*client), "");
  write(*client, "anyone?");
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(write_error(*client), Errc::closed);
  EXPECT_EQ(read_error(*client), Errc::closed);
}

TEST_F(SimNetworkTest, AStreamDroppedWithUnreadBytesResetsThePeer) {
  auto client = connect();
  auto server = accept();
  write(*client, "unread");
  EXPECT_TRUE(world.run_until_idle());
  server.reset();
  auto waited = start_wait(*client, Interest::read);
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(*waited, Errc::closed);
}

TEST_F(SimNetworkTest, APartitionHoldsBytesUntilItHeals) {
  auto client = connect();
  auto server = accept();
  write(*client, "before ");
  world.fabric().partition("client", "server");
  write(*client, "during");
  write(*server, "back");
  world.run_for(1h);
  EXPECT_EQ(read(*server), "error: would_block");
  EXPECT_EQ(read(*client), "error: would_block");
  world.fabric().heal("server", "client");
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(read(*server), "before during");
  EXPECT_EQ(read(*client), "back");
}

TEST_F(SimNetworkTest, AOneWayPartitionHoldsOneDirectionOnly) {
  auto client = connect();
  auto server = accept();
  world.fabric().partition_one_way("client", "server");
  write(*client, "held");
  write(*server, "through");
  world.run_for(1min);
  EXPECT_EQ(read(*server), "error: would_block");
  EXPECT_EQ(read(*client), "through");
  world.fabric().heal_all();
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(read(*server), "held");
}

TEST_F(SimNetworkTest, ConnectingIntoAPartitionTimesOutOnTheVirtualClock) {
  world.fabric().partition_one_way("server", "client");
  const Instant start = world.now();
  auto result = world.run(world.network("client").connect({"server", 80}));
  EXPECT_EQ(result.error().code(), Errc::timeout);
  EXPECT_GE(world.now() - start, world.fabric().options().connect_timeout);
  EXPECT_LT(world.now() - start, world.fabric().options().connect_timeout + 1s);
}

TEST_F(SimNetworkTest, ConnectingGoesOnWhenThePartitionHealsInTime) {
  world.fabric().partition("client", "server");
  const Instant healing = world.now() + 10s;
  world.timeline().at(healing, [this] { world.fabric().heal("client", "server"); });
  EXPECT_TRUE(world.run(world.network("client").connect({"server", 80})));
  EXPECT_GE(world.now(), healing);
}

TEST_F(SimNetworkTest, AResetClosesBothEndsAtOnce) {
  auto client = connect();
  auto server = accept();
  write(*client, "on the way");
  auto waited = start_wait(*server, Interest::read);
  world.run_for(1ns);
  world.fabric().reset("server", "client");
  EXPECT_EQ(write_error(*client), Errc::closed);
  EXPECT_EQ(read_error(*server), Errc::closed);
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(*waited, Errc::closed);
}

rt::Task<void> accept_twice(io::Listener& listener) {
  LEAT_CO_TRY(auto first, co_await listener.accept());
  LEAT_CO_TRY(auto second, co_await listener.accept());
  co_return Status{};
}

TEST_F(SimNetworkTest, AKilledHostIsGoneAndItsPeersHearOfIt) {
  auto client = connect();
  auto server = accept();
  auto unaccepted = connect();
  std::optional<Errc> accepting;
  world.spawn(accept_twice(*listener),
              [&accepting](const Status& status) { accepting = status.error().code(); });
  world.run_for(1s);
  world.fabric().kill("server");
  EXPECT_EQ(read_error(*server), Errc::closed);
  EXPECT_EQ(read_error(*client), Errc::would_block) << "the news is still on its way";
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(read_error(*client), Errc::closed);
  EXPECT_NE(read(*unaccepted), "error: would_block");
  EXPECT_EQ(accepting, Errc::closed);
  auto refused = world.run(world.network("client").connect({"server", 80}));
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_TRUE(world.network("server").listen({"server", 80}));
}

TEST_F(SimNetworkTest, BehindAPartitionNobodyHearsOfAKill) {
  auto client = connect();
  auto server = accept();
  world.fabric().partition("client", "server");
  world.fabric().kill("server");
  world.run_for(1h);
  EXPECT_EQ(read_error(*client), Errc::would_block);
  world.fabric().heal_all();
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(read_error(*client), Errc::closed);
}

TEST_F(SimNetworkTest, AnInterruptEndsThisAndEveryLaterWaitWithItsReason) {
  auto client = connect();
  auto server = accept();
  auto reading = start_wait(*client, Interest::read);
  world.run_for(1s);
  EXPECT_FALSE(reading->has_value());
  client->interrupt(Errc::timeout);
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(*reading, Errc::timeout);
  write(*server, "too late");
  auto later = start_wait(*client, Interest::read);
  auto writing = start_wait(*client, Interest::write);
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(*later, Errc::timeout);
  EXPECT_EQ(*writing, Errc::timeout);
  EXPECT_EQ(read(*client), "too late") << "attempts are not interrupted, only waits";
}

}  // namespace
}  // namespace leat::sim
