#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/http_world.h"

namespace leat::http {
namespace {

using namespace std::chrono_literals;
using testing::HttpWorld;
using testing::HttpWorldOptions;
using testing::RawClient;

// Sends back what it is sent, with the trailer's value at the end.
rt::Task<Response> echo(Exchange& exchange) {
  std::string text(exchange.head.query);
  std::array<std::byte, 1000> buffer;
  while (true) {
    LEAT_CO_TRY(const std::size_t got, co_await exchange.body.read(buffer));
    if (got == 0) break;
    text += as_text(Bytes(buffer).first(got));
  }
  text += exchange.body.trailers().find("x-end").value_or("");
  co_return Response::text(200, "text/plain", std::move(text));
}

class CountingSource final : public BodySource {
 public:
  rt::Task<Bytes> next() override {
    if (count_ == 20) co_return Bytes{};
    piece_ = std::string(300, static_cast<char>('a' + count_++));
    co_return as_bytes(piece_);
  }

 private:
  int count_ = 0;
  std::string piece_;
};

rt::Task<Response> count_up() {
  Response response(200);
  response.body = StreamBody{.source = std::make_unique<CountingSource>(), .length = {}};
  co_return response;
}

// One of each kind of request, the last one refused.
std::string script() {
  return "GET /read_file HTTP/1.1\r\nHost: s\r\n\r\n"
         "PUT /write_file?1 HTTP/1.1\r\nHost: s\r\nContent-Length: 5000\r\n\r\n" +
         std::string(5000, 'p') +
         "HEAD /write_file?22 HTTP/1.1\r\nHost: s\r\n\r\n"
         "PUT /write_file?3 HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n"
         "3e8;ext\r\n" +
         std::string(1000, 'c') + "\r\n1\r\nd\r\n0\r\nx-end: end\r\n\r\n" +
         "PUT /nothing HTTP/1.1\r\nHost: s\r\nContent-Length: 3000\r\n\r\n" +
         std::string(3000, 'n') +
         "GET /metrics HTTP/1.1\r\nHost: s\r\nx-auth: anonymous\r\n\r\n"
         "GET /read_file HTTP/1.0\r\nConnection: keep-alive\r\nHost: s\r\n\r\n"
         "GET /write_file?last HTTP/1.1\r\nHost: s\r\n\r\n"
         "GET /bad HTTP/1.1\r\nContent-Length: +1\r\n\r\n";
}

HttpWorldOptions random_options(std::uint64_t seed) {
  io::SeededRng rng(seed);
  HttpWorldOptions options;
  options.seed = seed;
  options.world.network.latency = Duration(rng.below(10'000'000));
  options.world.network.jitter = Duration(rng.below(10'000'000));
  options.world.network.buffer_bytes = 50 + rng.below(20000);
  options.world.network.short_percent = rng.below(101);
  return options;
}

// Everything the client got, without what names the hour.
std::string answers_with(const HttpWorldOptions& options) {
  HttpWorld http(options);
  http.handle(Operation::write_file, [](Exchange& exchange) { return echo(exchange); });
  http.handle(Operation::read_file, [](Exchange&) { return count_up(); });
  RawClient client(http);
  client.send(script());
  EXPECT_TRUE(client.wait_end(10min)) << http.world.describe();
  std::string text = client.received();
  for (std::size_t at = 0; (at = text.find("Date: ", at)) != text.npos;) {
    text.erase(at, text.find("\r\n", at) + 2 - at);
  }
  return text;
}

TEST(Seeds, TheSameRequestsGetTheSameAnswersHoweverTheNetworkCutsAndDelaysThem) {
  const std::string expected = answers_with({});
  EXPECT_EQ(testing::split_answers(expected, "..H").statuses(),
            "200 200 200 200 404 401 505 200 400");
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const HttpWorldOptions options = random_options(seed);
    ASSERT_EQ(answers_with(options), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace leat::http
