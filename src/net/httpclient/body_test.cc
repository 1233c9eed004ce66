// How the client sends bodies: streams, chunks, 100-continue, and servers that answer too early.
#include <gtest/gtest.h>

#include "httpclient/client_fixture_test.h"

namespace leat::httpclient {
namespace {

using namespace std::chrono_literals;

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const std::string kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

class Pieces final : public BodySource {
 public:
  explicit Pieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}

  rt::Task<Bytes> next() override {
    if (given_ == pieces_.size()) co_return Bytes();
    if (pieces_[given_] == "fail") co_return fail(Errc::corrupt, "source");
    co_return as_bytes(pieces_[given_++]);
  }
  std::size_t given() const { return given_; }

 private:
  std::vector<std::string> pieces_;
  std::size_t given_ = 0;
};

class BodyTest : public ClientTest {
 protected:
  static Request put(RequestBody body) {
    Request request = get("/a");
    request.method = "PUT";
    request.body = body;
    return request;
  }
  static Request put(Pieces& pieces, std::optional<std::uint64_t> length) {
    return put(StreamedBody{.source = &pieces, .length = length});
  }

  bool server_got(std::string_view text) const {
    return server_.received(0).find(text) != std::string::npos;
  }
};

TEST_F(BodyTest, AStreamOfKnownLengthIsSentAsItIs) {
  server_.expect({read("abcdef"), send(kOk), read_head(), send(kOk)});
  Pieces pieces({"abc", "def"});
  EXPECT_EQ(tell(put(pieces, 6)), "200 ok");
  EXPECT_TRUE(server_got("Content-Length: 6\r\n\r\nabcdef"));
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(server_.accepted(), 1U);
}

TEST_F(BodyTest, AStreamOfUnknownLengthIsSentInChunks) {
  server_.expect({read("0\r\n\r\n"), send(kOk)});
  Pieces pieces({"abc", "0123456789abcdef"});
  EXPECT_EQ(tell(put(pieces, std::nullopt)), "200 ok");
  EXPECT_TRUE(
      server_got("Transfer-Encoding: chunked\r\n\r\n"
                 "3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n"));
}

TEST_F(BodyTest, ASourceThatDoesNotKeepItsWordBreaksTheRequestOff) {
  Pieces longer({"abc", "def"});
  Pieces shorter({"abc"});
  Pieces failing({"abc", "fail"});
  EXPECT_EQ(tell(put(longer, 4)), "internal");
  EXPECT_EQ(tell(put(shorter, 4)), "corrupt");
  EXPECT_EQ(tell(put(failing, std::nullopt)), "corrupt");
  EXPECT_EQ(client_.stats().connections, 0U);
}

TEST_F(BodyTest, AnExpectationSendsTheBodyOnceItIsGranted) {
  server_.expect({read_head(), send(kContinue), read("body"), send(kOk), read_head(), send(kOk)});
  Request request = put(as_bytes("body"));
  request.expect_continue = true;
  const Instant start = world_.now();
  EXPECT_EQ(tell(std::move(request)), "200 ok");
  EXPECT_LT(world_.now() - start, 100ms) << "nobody waited for the limit";
  EXPECT_TRUE(server_got("Expect: 100-continue\r\n\r\nbody"));
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(server_.accepted(), 1U);
}

TEST_F(BodyTest, AnExpectationThatIsRefusedSendsNoBodyAndEndsTheConnection) {
  server_.expect(
      {read_head(), send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")});
  Pieces pieces({"body"});
  Request request = put(pieces, 4);
  request.expect_continue = true;
  EXPECT_EQ(tell(std::move(request)), "413 ");
  EXPECT_EQ(pieces.given(), 0U);
  EXPECT_TRUE(server_.received(0).ends_with("\r\n\r\n"));
  EXPECT_EQ(client_.stats().connections, 0U);
}

TEST_F(BodyTest, AServerThatIgnoresTheExpectationGetsTheBodyAfterAWhile) {
  server_.expect({read("body"), send(kContinue + kOk), read_head(), send(kOk)});
  Request request = put(as_bytes("body"));
  request.expect_continue = true;
  const Instant start = world_.now();
  EXPECT_EQ(tell(std::move(request)), "200 ok");
  EXPECT_GE(world_.now() - start, 1s);
  EXPECT_LT(world_.now() - start, 2s);
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(server_.accepted(), 1U) << "the connection is as good as before";
}

TEST_F(BodyTest, AServerThatAnswersWithoutReadingTheBodyIsHeard) {
  world_.fabric().options().buffer_bytes = 1000;
  server_.expect({read("a"), send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")});
  server_.expect({read_head(), send(kOk)});
  const std::string big(1 << 20, 'a');
  EXPECT_EQ(tell(put(as_bytes(big))), "403 no");
  EXPECT_LT(server_.received(0).size(), big.size());
  EXPECT_EQ(tell(get()), "200 ok");
  EXPECT_EQ(server_.accepted(), 2U) << "half a request went out on the first";
}

TEST_F(BodyTest, AServerThatDoesNotReadEndsInATimeout) {
  world_.fabric().options().buffer_bytes = 1000;
  server_.always({read("a"), send("")});
  const std::string big(1 << 20, 'a');
  Request request = put(as_bytes(big));
  request.deadline = world_.now() + 2s;
  world_.fabric().partition_one_way("client", "server");
  EXPECT_EQ(tell(std::move(request)), "timeout");
}

}  // namespace
}  // namespace leat::httpclient
