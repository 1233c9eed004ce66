#include "http/relief.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/http_world.h"

namespace leat::http {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using testing::HttpWorld;
using testing::RawClient;

constexpr std::string_view kGet = "GET /read_file HTTP/1.1\r\nHost: server\r\n\r\n";

rt::Task<Response> send_all(std::shared_ptr<const io::File> file, std::uint64_t size) {
  Response response(200);
  response.body = FileBody{.file = file, .uncached = nullptr, .offset = 0, .length = size};
  co_return response;
}

rt::Task<Response> drain_body(Exchange& exchange) {
  std::vector<std::byte> buffer(4096);
  while (true) {
    LEAT_CO_TRY(const std::size_t got, co_await exchange.body.read(buffer));
    if (got == 0) co_return Response(200);
  }
}

// Serves a file that passes through the buffers of the pool, of which there are few.
class ReliefTest : public ::testing::Test {
 protected:
  ~ReliefTest() override { http.stop(); }

  ReliefTest() {
    http.world.rng().fill(std::as_writable_bytes(std::span(content)));
    file = http.world.disk("server").open("/f", io::OpenMode::create).value();
    EXPECT_TRUE(file->write_all_at(0, as_bytes(content)));
    http.handle(Operation::read_file, [this](Exchange&) { return send_all(file, content.size()); });
  }

  // Clients that ask for the file and do not read it, until they have all buffers.
  std::vector<std::unique_ptr<RawClient>> hold_all_buffers() {
    std::vector<std::unique_ptr<RawClient>> clients;
    while (http.body_buffers.in_use() < http.options.body_buffers) {
      clients.push_back(std::make_unique<RawClient>(http, /*reads=*/false));
      clients.back()->send(kGet);
      http.world.run_for(100ms);
    }
    EXPECT_EQ(http.body_buffers.waiting(), 0U);
    return clients;
  }

  std::string content = std::string(1'000'000, '?');
  HttpWorld http;
  std::shared_ptr<io::File> file;  // closed before its disk goes
};

TEST_F(ReliefTest, ClientsThatDoNotReadMakeRoomForOneThatDoes) {
  const auto slow = hold_all_buffers();
  RawClient client(http);
  const Instant start = http.world.now();
  client.send(kGet);
  ASSERT_TRUE(client.wait_answers(1, "", 10min));
  EXPECT_TRUE(client.answers().whole[0].body == content);
  EXPECT_LE(http.world.now() - start, 5s);
  EXPECT_GE(http.metrics.clients_cut.value(), 1U);
  EXPECT_LE(http.metrics.clients_cut.value(), 2U) << "no more than was needed";
}

TEST_F(ReliefTest, WhileNobodyWaitsNobodyIsCut) {
  const auto slow = hold_all_buffers();
  http.world.run_for(20s);
  EXPECT_EQ(http.metrics.clients_cut.value(), 0U);
  EXPECT_EQ(http.metrics.body_buffers.value(), static_cast<double>(http.options.body_buffers));
  for (const auto& client : slow) {
    client->start_reading();
    ASSERT_TRUE(client->wait_answers(1));
    EXPECT_TRUE(client->answers().whole[0].body == content);
  }
}

TEST_F(ReliefTest, AnUploadThatStallsIsCutAsWell) {
  http.handle(Operation::write_file, [](Exchange& exchange) { return drain_body(exchange); });
  RawClient upload(http);
  upload.send("PUT /write_file HTTP/1.1\r\nHost: server\r\nContent-Length: 1000\r\n\r\nx");
  http.world.run_for(100ms);
  std::vector<io::BufferPool::Buffer> all;
  while (auto buffer = http.body_buffers.try_acquire()) {
    all.push_back(std::move(buffer));
  }
  RawClient client(http);
  client.send(kGet);
  ASSERT_TRUE(upload.wait_end(5s));
  EXPECT_EQ(upload.answers().statuses(), "408");
  all.clear();
  ASSERT_TRUE(client.wait_answers(1));
}

TEST_F(ReliefTest, AnAnswerThatGetsNoBufferSaysSoAndTheConnectionGoesOn) {
  std::vector<io::BufferPool::Buffer> all;
  while (auto buffer = http.body_buffers.try_acquire()) {
    all.push_back(std::move(buffer));
  }
  RawClient client(http);
  const Answer refused = client.ask(kGet);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("\"busy\""), std::string::npos) << refused.body;
  all.clear();
  EXPECT_TRUE(client.ask(kGet).body == content);
}

TEST_F(ReliefTest, ADiskThatFailsAtOnceIsAnAnswerAndNotABrokenOne) {
  sim::FaultPlan& faults = http.world.disk("server").faults();
  faults.add({.call = sim::DiskCall::read, .nth = 1, .and_after = true});
  RawClient client(http);
  EXPECT_EQ(client.ask(kGet).status, 500);
  EXPECT_EQ(http.metrics.broken_responses.value(), 0U);
  faults.clear();
  EXPECT_TRUE(client.ask(kGet).body == content);
}

}  // namespace
}  // namespace leat::http
