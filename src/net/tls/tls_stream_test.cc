#include "tls/tls_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "sim/world.h"
#include "tls/client_tls.h"
#include "tls/server_tls.h"

namespace leat::tls {
namespace {

using namespace std::chrono_literals;
using StreamPtr = std::unique_ptr<io::Stream>;

std::string pattern(std::size_t size, std::uint64_t seed) {
  io::SeededRng rng(seed);
  std::string text(size, '\0');
  rng.fill(std::as_writable_bytes(std::span(text)));
  return text;
}

rt::Task<void> write_text(io::Stream& stream, std::string_view text) {
  std::array<Bytes, 1> pieces = {as_bytes(text)};
  co_return co_await io::write_all(stream, pieces);
}

rt::Task<void> write_and_finish(io::Stream& stream, std::string_view text) {
  LEAT_CO_DO(co_await write_text(stream, text));
  stream.finish_writing();
  co_return Status{};
}

// Everything up to a clean end.
rt::Task<std::string> read_to_end(io::Stream& stream) {
  std::string text;
  std::vector<std::byte> part(4096);
  while (true) {
    LEAT_CO_TRY(const std::size_t count, co_await io::read_some(stream, part));
    if (count == 0) co_return text;
    text.append(as_text(Bytes(part).first(count)));
  }
}

rt::Task<void> echo(io::Stream& stream) {
  std::vector<std::byte> part(5000);
  while (true) {
    LEAT_CO_TRY(const std::size_t count, co_await io::read_some(stream, part));
    if (count == 0) break;
    LEAT_CO_DO(co_await write_text(stream, as_text(Bytes(part).first(count))));
  }
  stream.finish_writing();
  co_return Status{};
}

// Both ends of a handshake, run in one world.
class TlsStreamTest : public ::testing::Test {
 protected:
  explicit TlsStreamTest(std::uint64_t seed = 11) : world_(seed) {
    listener_ = world_.network("server").listen({"server", 443}).value();
    io::SeededRng rng(1);
    const std::vector<std::string> names = {"server", "10.0.0.1"};
    identity_.emplace(
        ServerIdentity::make_self_signed(names, world_.clock("server").wall_now(), rng).value());
    server_tls_.emplace(*identity_);
  }

  void connect_plain() {
    client_ = world_.run(world_.network("client").connect({"server", 443})).value();
    server_ = world_.run(listener_->accept()).value();
  }

  // Replaces `client` and `server` by their TLS streams, and keeps how the handshakes ended.
  void shake_hands(const ClientTls& client_tls, const std::string& host = "server") {
    world_.spawn(upgrade(client_tls.connect(std::move(client_), host), client_, client_error_),
                 [](const Status&) {});
    world_.spawn(upgrade(server_tls_->accept(std::move(server_)), server_, server_error_),
                 [](const Status&) {});
    EXPECT_TRUE(world_.run_until_idle());
  }

  void connect_secured() {
    connect_plain();
    shake_hands(ClientTls::trusting_fingerprint(identity_->fingerprint()));
    ASSERT_TRUE(client_ != nullptr && server_ != nullptr);
  }

  ClientTls trusting(const std::string& pem) {
    return std::move(ClientTls::trusting_authorities(pem, world_.clock("client")).value());
  }

  static rt::Task<void> upgrade(rt::Task<StreamPtr> handshake, StreamPtr& into,
                                std::optional<Error>& error) {
    auto done = co_await std::move(handshake);
    if (done) {
      into = std::move(*done);
    } else {
      error.emplace(std::move(done).error());
    }
    co_return Status{};
  }

  static std::string name_of(const std::optional<Error>& error) {
    return error ? std::string(traits(error->code()).name) : "none";
  }

  sim::SimWorld world_;
  std::unique_ptr<io::Listener> listener_;
  std::optional<ServerIdentity> identity_;
  std::optional<ServerTls> server_tls_;
  StreamPtr client_;
  StreamPtr server_;
  std::optional<Error> client_error_;
  std::optional<Error> server_error_;
};

class TlsStreamSeeds : public TlsStreamTest, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  TlsStreamSeeds() : TlsStreamTest(GetParam()) {}
};

TEST_P(TlsStreamSeeds, AMebibyteComesBackUnchangedThroughShortReadsAndANarrowPipe) {
  world_.fabric().options().short_percent = 40;
  world_.fabric().options().buffer_bytes = 1000 + GetParam() * 3000;
  connect_secured();
  EXPECT_TRUE(client_->is_encrypted());
  EXPECT_FALSE(client_->can_send_file());
  EXPECT_EQ(client_->peer(), (io::Address{"server", 443}));
  const std::string sent = pattern(1 << 20, GetParam());
  Status echoed = fail(Errc::internal);
  Status written = fail(Errc::internal);
  world_.spawn(echo(*server_), [&](Status status) { echoed = std::move(status); });
  world_.spawn(write_and_finish(*client_, sent),
               [&](Status status) { written = std::move(status); });
  const auto received = world_.run(read_to_end(*client_));
  ASSERT_TRUE(received) << received.error().message();
  EXPECT_TRUE(*received == sent);
  EXPECT_TRUE(echoed);
  EXPECT_TRUE(written);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TlsStreamSeeds, ::testing::Range<std::uint64_t>(0, 8));

TEST_F(TlsStreamTest, TheRightFingerprintIsTrustedUnderAnyName) {
  connect_plain();
  shake_hands(ClientTls::trusting_fingerprint(identity_->fingerprint()), "alias");
  EXPECT_EQ(name_of(client_error_), "none");
  EXPECT_EQ(name_of(server_error_), "none");
}

TEST_F(TlsStreamTest, AnotherFingerprintIsRefusedByTheClientAndToldToTheServer) {
  connect_plain();
  shake_hands(ClientTls::trusting_fingerprint(Fingerprint{}));
  EXPECT_EQ(name_of(client_error_), "denied");
  EXPECT_NE(server_error_, std::nullopt);
}

TEST_F(TlsStreamTest, ACertificateInTheListOfAuthoritiesIsTrustedForItsNamesOnly) {
  const ClientTls client_tls = trusting(identity_->certificate_pem());
  for (const auto& [host, expected] :
       std::vector<std::pair<std::string, std::string>>{{"server", "none"},
                                                        {"10.0.0.1", "none"},
                                                        {"other", "denied"},
                                                        {"10.0.0.2", "denied"},
                                                        {"", "bad_request"}}) {
    client_error_.reset();
    connect_plain();
    shake_hands(client_tls, host);
    EXPECT_EQ(name_of(client_error_), expected) << host;
  }
}

TEST_F(TlsStreamTest, ACertificateOfAnotherAuthorityIsRefused) {
  io::SeededRng rng(2);
  const std::vector<std::string> names = {"server"};
  const auto now = world_.clock("client").wall_now();
  const auto other = ServerIdentity::make_self_signed(names, now, rng).value();
  connect_plain();
  shake_hands(trusting(other.certificate_pem()));
  EXPECT_EQ(name_of(client_error_), "denied");
}

TEST_F(TlsStreamTest, ACertificateThatHasExpiredByTheClientsCalendarIsRefused) {
  world_.clock("client").jump_wall(24h * 3660);
  connect_plain();
  shake_hands(trusting(identity_->certificate_pem()));
  EXPECT_EQ(name_of(client_error_), "denied");
  EXPECT_NE(client_error_->detail().find("expired"), std::string::npos);
}

TEST_F(TlsStreamTest, AnEndWithoutGoodbyeIsAnErrorAfterWhatArrived) {
  connect_plain();
  io::Stream* raw = client_.get();
  shake_hands(ClientTls::trusting_fingerprint(identity_->fingerprint()));
  ASSERT_TRUE(world_.run(write_text(*client_, "half a body")));
  raw->finish_writing();
  std::array<std::byte, 64> part;
  EXPECT_EQ(world_.run(io::read_some(*server_, part)).value(), 11U);
  EXPECT_EQ(world_.run(io::read_some(*server_, part)).error().code(), Errc::closed);
  EXPECT_EQ(server_->try_read(part).error().code(), Errc::closed) << "and it stays one";
}

TEST_F(TlsStreamTest, AGoodbyeIsACleanEndAndTheOtherDirectionGoesOn) {
  connect_secured();
  ASSERT_TRUE(world_.run(write_and_finish(*client_, "question")));
  EXPECT_EQ(world_.run(read_to_end(*server_)).value(), "question");
  ASSERT_TRUE(world_.run(write_and_finish(*server_, "answer")));
  EXPECT_EQ(world_.run(read_to_end(*client_)).value(), "answer");
}

TEST_F(TlsStreamTest, PlainHttpIsRefusedAtOnce) {
  connect_plain();
  ASSERT_TRUE(world_.run(write_text(*client_, "GET / HTTP/1.1\r\nHost: server\r\n\r\n")));
  const auto accepted = world_.run(server_tls_->accept(std::move(server_)), 1s);
  EXPECT_EQ(accepted.error().code(), Errc::bad_request);
}

TEST_F(TlsStreamTest, ANoisyServerIsNoTls) {
  connect_plain();
  ASSERT_TRUE(world_.run(write_text(*server_, "220 mail.example ESMTP\r\n")));
  const ClientTls client_tls = ClientTls::trusting_fingerprint(identity_->fingerprint());
  const auto connected = world_.run(client_tls.connect(std::move(client_), "server"), 1s);
  EXPECT_EQ(connected.error().code(), Errc::io);
}

TEST_F(TlsStreamTest, AHandshakeEndsWhenThePeerLeavesOrTimeIsUp) {
  connect_plain();
  client_.reset();
  EXPECT_EQ(world_.run(server_tls_->accept(std::move(server_))).error().code(), Errc::closed);
  connect_plain();
  io::Stream& raw = *server_;
  world_.timeline().at(world_.now() + 5s, [&raw] { raw.interrupt(Errc::timeout); });
  EXPECT_EQ(world_.run(server_tls_->accept(std::move(server_))).error().code(), Errc::timeout);
}

TEST_F(TlsStreamTest, SmallPiecesTravelInOneRecord) {
  connect_secured();
  const std::array<Bytes, 3> pieces = {as_bytes("head "), Bytes(), as_bytes("body")};
  EXPECT_EQ(client_->try_write(pieces, io::Flush::now).value(), 9U);
  EXPECT_TRUE(world_.run_until_idle());
  std::array<std::byte, 64> part;
  EXPECT_EQ(server_->try_read(part).value(), 9U);
  EXPECT_EQ(as_text(Bytes(part).first(9)), "head body");
}

// What a connection that asks "is there a next request?" relies on: bytes that were decrypted
// together with earlier ones do not make the inner stream readable again.
TEST_F(TlsStreamTest, WaitingReturnsAtOnceWhileDecryptedBytesAreLeft) {
  connect_secured();
  ASSERT_TRUE(world_.run(write_text(*client_, "first")));
  ASSERT_TRUE(world_.run(write_text(*client_, "second")));
  EXPECT_TRUE(world_.run_until_idle());
  std::array<std::byte, 3> part;
  for (const std::string_view expected : {"fir", "st", "sec", "ond"}) {
    ASSERT_TRUE(world_.run(server_->wait(io::Interest::read), 0s));
    const std::size_t count = server_->try_read(part).value();
    EXPECT_EQ(as_text(Bytes(part).first(count)), expected);
  }
  EXPECT_EQ(server_->try_read(part).error().code(), Errc::would_block);
  EXPECT_FALSE(world_.run(server_->wait(io::Interest::read), 1h));
}

TEST_F(TlsStreamTest, AnInterruptEndsWaitsWithItsReason) {
  connect_secured();
  world_.timeline().at(world_.now() + 1s, [this] { server_->interrupt(Errc::timeout); });
  std::array<std::byte, 8> part;
  EXPECT_EQ(world_.run(io::read_some(*server_, part)).error().code(), Errc::timeout);
  EXPECT_EQ(world_.run(server_->wait(io::Interest::write)).error().code(), Errc::timeout);
}

TEST(ClientTls, AuthoritiesThatAreNoneAreRefused) {
  const io::RealClock clock;
  EXPECT_EQ(ClientTls::trusting_authorities("no PEM", clock).error().code(), Errc::bad_request);
}

}  // namespace
}  // namespace leat::tls
