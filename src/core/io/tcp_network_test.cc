#include "io/tcp_network.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "io/rng.h"
#include "support/run_task.h"
#include "support/temp_folder.h"

namespace leat::io {
namespace {

using namespace std::chrono_literals;
using testing::run_task;
using testing::TempFolder;
using StreamPtr = std::unique_ptr<Stream>;

struct Pair {
  StreamPtr client;
  StreamPtr server;
};

rt::Task<void> keep_accepted(Listener& listener, StreamPtr& into) {
  LEAT_CO_TRY(into, co_await listener.accept());
  co_return Status{};
}

rt::Task<void> echo(Stream& stream) {
  std::array<std::byte, 10000> buffer;
  while (true) {
    LEAT_CO_TRY(const std::size_t count, co_await read_some(stream, buffer));
    if (count == 0) break;
    Bytes piece = Bytes(buffer).first(count);
    LEAT_CO_DO(co_await write_all(stream, std::span(&piece, 1)));
  }
  stream.finish_writing();
  co_return Status{};
}

rt::Task<void> send_text(Stream& stream, std::string_view text) {
  std::array<Bytes, 3> pieces = {as_bytes(text.substr(0, 1)), Bytes{}, as_bytes(text.substr(1))};
  LEAT_CO_DO(co_await write_all(stream, pieces));
  stream.finish_writing();
  co_return Status{};
}

rt::Task<std::string> receive_all(Stream& stream) {
  std::string text;
  std::array<std::byte, 7777> buffer;
  while (true) {
    LEAT_CO_TRY(const std::size_t count, co_await read_some(stream, buffer));
    if (count == 0) co_return text;
    text += as_text(Bytes(buffer).first(count));
  }
}

rt::Task<void> send_whole_file(Stream& stream, const File& file, std::uint64_t size) {
  std::uint64_t sent = 0;
  while (sent < size) {
    auto count = stream.try_send_file(file, sent, size - sent);
    if (count) {
      sent += *count;
    } else if (count.error().code() == Errc::would_block) {
      LEAT_CO_DO(co_await stream.wait(Interest::write));
    } else {
      co_return fail(std::move(count).error());
    }
  }
  stream.finish_writing();
  co_return Status{};
}

class TcpTest : public ::testing::Test {
 protected:
  // A task that runs beside others until its end.
  void start(rt::Task<void> task, Errc expected = Errc::internal) {
    ++started;
    shard.spawn(std::move(task), [this, expected](const Status& status) {
      EXPECT_EQ(status ? Errc::internal : status.error().code(), expected);
      ++ended;
    });
  }
  void run_started() {
    while (ended < started) {
      shard.context().restart();
      shard.context().run_one();
    }
  }

  Pair connect() {
    Pair pair;
    start(keep_accepted(*listener, pair.server));
    pair.client = run_task(shard, network.connect(listener->address())).value();
    run_started();
    return pair;
  }

  rt::Shard shard{rt::ShardId(0)};
  TcpNetwork network{shard, TcpOptions{}};
  std::unique_ptr<Listener> listener{network.listen({"127.0.0.1", 0}).value()};
  int started = 0;
  int ended = 0;
};

TEST_F(TcpTest, TellsWhereItListensAndWhoIsThere) {
  EXPECT_EQ(listener->address().host, "127.0.0.1");
  EXPECT_NE(listener->address().port, 0);
  const Pair pair = connect();
  EXPECT_EQ(pair.server->peer().host, "127.0.0.1");
  EXPECT_EQ(pair.client->peer(), listener->address());
  EXPECT_FALSE(pair.client->is_encrypted());
}

TEST_F(TcpTest, AnEchoComesBackWhole) {
  std::string text(3'000'000, '?');
  SeededRng(1).fill(std::as_writable_bytes(std::span(text)));
  const Pair pair = connect();
  start(echo(*pair.server));
  start(send_text(*pair.client, text));
  EXPECT_TRUE(run_task(shard, receive_all(*pair.client)).value() == text);
  run_started();
}

TEST_F(TcpTest, AttemptsSayWhenTheyWouldWait) {
  const Pair pair = connect();
  std::array<std::byte, 10> buffer{};
  EXPECT_EQ(pair.client->try_read(buffer).error().code(), Errc::would_block);
  const std::string text(1 << 20, 'x');
  const Bytes piece = as_bytes(text);
  Result<std::size_t> written = pair.client->try_write(std::span(&piece, 1), Flush::now);
  for (int i = 0; i < 100 && written; ++i) {
    written = pair.client->try_write(std::span(&piece, 1), Flush::now);
  }
  EXPECT_EQ(written.error().code(), Errc::would_block);
}

TEST_F(TcpTest, BytesHeldBackForMoreGoOutWithTheNext) {
  const Pair pair = connect();
  const Bytes head = as_bytes("head ");
  const Bytes body = as_bytes("body");
  EXPECT_EQ(pair.server->try_write(std::span(&head, 1), Flush::more_follows).value(), 5U);
  EXPECT_EQ(pair.server->try_write(std::span(&body, 1), Flush::now).value(), 4U);
  pair.server->finish_writing();
  EXPECT_EQ(run_task(shard, receive_all(*pair.client)).value(), "head body");
}

TEST_F(TcpTest, WhatACorkHeldBackGoesOutWhenItIsTakenOff) {
  const Pair pair = connect();
  const Bytes piece = as_bytes("little");
  std::array<std::byte, 16> target{};
  {
    const Corked corked(*pair.client);
    EXPECT_EQ(pair.client->try_write(std::span(&piece, 1), Flush::now).value(), 6U);
    EXPECT_EQ(pair.server->try_read(target).error().code(), Errc::would_block);
  }
  EXPECT_TRUE(run_task(shard, pair.server->wait(Interest::read)));
  EXPECT_EQ(pair.server->try_read(target).value(), 6U);
}

TEST_F(TcpTest, AFileIsSentByteForByte) {
  TempFolder folder;
  std::string text(5'000'001, '?');
  SeededRng(2).fill(std::as_writable_bytes(std::span(text)));
  folder.write("f", text);
  PosixDisk disk;
  auto file = disk.open(folder.path("f"), OpenMode::read).value();
  const Pair pair = connect();
  ASSERT_TRUE(pair.server->can_send_file());
  start(send_whole_file(*pair.server, *file, text.size()));
  EXPECT_TRUE(run_task(shard, receive_all(*pair.client)).value() == text);
  run_started();
  EXPECT_EQ(pair.server->try_send_file(*file, text.size(), 1).error().code(), Errc::corrupt)
      << "nothing is there to be sent";
}

TEST_F(TcpTest, InterruptEndsTheRunningWaitAndEveryLaterOne) {
  const Pair pair = connect();
  start(pair.client->wait(Interest::read), Errc::timeout);
  shard.context().poll();
  EXPECT_EQ(ended + 1, started);
  pair.client->interrupt(Errc::timeout);
  run_started();
  pair.client->interrupt(Errc::closed);
  EXPECT_EQ(run_task(shard, pair.client->wait(Interest::write)).error().code(), Errc::timeout)
      << "the first reason stays";
  const Bytes piece = as_bytes("still");
  EXPECT_EQ(pair.client->try_write(std::span(&piece, 1), Flush::now).value(), 5U);
}

TEST_F(TcpTest, APeerThatVanishesIsClosedAndNoSignal) {
  Pair pair = connect();
  const Bytes piece = as_bytes("unread");
  EXPECT_TRUE(pair.client->try_write(std::span(&piece, 1), Flush::now));
  ASSERT_TRUE(run_task(shard, pair.server->wait(Interest::read)));
  pair.server.reset();  // with bytes unread: the kernel resets
  EXPECT_EQ(run_task(shard, receive_all(*pair.client)).error().code(), Errc::closed);
  EXPECT_EQ(pair.client->try_write(std::span(&piece, 1), Flush::now).error().code(), Errc::closed);
}

TEST_F(TcpTest, ConnectingToNobodyIsRefused) {
  const Address gone = listener->address();
  listener.reset();
  EXPECT_EQ(run_task(shard, network.connect(gone)).error().code(), Errc::unavailable);
  Address nobody{"host.invalid", 1};
  EXPECT_EQ(run_task(shard, network.connect(nobody)).error().code(), Errc::not_found);
}

TEST_F(TcpTest, ListeningOnWhatIsNoAddressIsRefused) {
  EXPECT_EQ(network.listen({"host.invalid", 0}).error().code(), Errc::bad_request);
  EXPECT_FALSE(network.listen({"192.0.2.1", 0})) << "not an address of this machine";
}

TEST_F(TcpTest, AnAddressInUseIsFoundOutThoughShardsMayShareIt) {
  EXPECT_EQ(TcpNetwork::check_unused(listener->address()).error().code(), Errc::conflict);
  auto second = network.listen(listener->address());
  EXPECT_TRUE(second) << "another shard's listener";
  const Address address = listener->address();
  listener.reset();
  second->reset();
  EXPECT_TRUE(TcpNetwork::check_unused(address));
}

TEST_F(TcpTest, AClosedListenerEndsItsAccept) {
  StreamPtr never;
  start(keep_accepted(*listener, never), Errc::closed);
  shard.context().poll();
  listener->close();
  run_started();
  EXPECT_EQ(run_task(shard, listener->accept()).error().code(), Errc::closed);
}

// The timer and the connection are ready in the same turn. The address sanitizer looks.
TEST_F(TcpTest, ATimeoutThatComesTooLateHarmsNobody) {
  TcpOptions options;
  options.connect_timeout = 1ns;
  TcpNetwork hasty(shard, options);
  for (int i = 0; i < 50; ++i) {
    auto stream = run_task(shard, hasty.connect(listener->address()));
    if (!stream) {
      EXPECT_EQ(stream.error().code(), Errc::timeout);
    }
    stream = fail(Errc::closed);
    shard.context().restart();
    shard.context().poll();
  }
}

}  // namespace
}  // namespace leat::io
