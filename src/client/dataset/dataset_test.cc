#include "dataset/dataset.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dataset/batch.h"
#include "dataset/json_call.h"
#include "hash/crc32c.h"
#include "httpclient/scripted_server_test.h"
#include "snapshot/builder.h"

namespace leat::dataset {
namespace {

using httpclient::close;
using httpclient::read;
using httpclient::read_head;
using httpclient::send;

std::string answer(std::string_view status, std::string_view body, std::string_view fields = "") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(), fields,
                     body);
}

std::string frame(frames::Header header, std::string_view payload) {
  header.length = payload.size();
  std::string out;
  frames::append_header(out, header);
  out += payload;
  frames::append_sum(out, hash::crc32c(as_bytes(out)));
  return out;
}

std::string body_in(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

std::string sample_snapshot() {
  snapshot::Builder builder;
  EXPECT_TRUE(
      builder.begin_shard({.bucket = "b", .key = "0.tar", .etag = "e", .size_bytes = 2048}));
  const snapshot::FieldOf field{.name = "cls", .place = {.offset = 512, .size_bytes = 1}};
  EXPECT_TRUE(builder.add_sample("one", 0, 1024, std::span(&field, 1)));
  return builder.finish().value();
}

std::string facts_of(std::string_view snapshot) {
  return fmt::format(
      R"({{"dataset":"b/n","version":3,"fingerprint":"f00","samples":1,"shards":1,"bytes":1024,)"
      R"("snapshot_bytes":{},"fields":["cls"]}})",
      snapshot.size());
}

// A client on a simulated network, and a service that says what it is told.
class DatasetTest : public ::testing::Test {
 protected:
  DatasetTest()
      : world_(5),
        server_(world_, {"server", 80}),
        watchdog_(world_.clock("client"), std::chrono::milliseconds(100)),
        client_({world_.shard(), world_.network("client"), world_.clock("client"), watchdog_,
                 world_.rng()},
                {.endpoint = s3client::parse_endpoint("http://server").value(),
                 .signer = {.access_key = "KEY", .secret = "SECRET"},
                 .retry = {.attempts_max = 4}}) {
    world_.spawn(watchdog_.run(), [](const Status&) {});
    world_.spawn(client_.run(), [](const Status&) {});
  }
  void TearDown() override { EXPECT_TRUE(world_.run(client_.stop())); }

  // The items that come, one after the other; what ended it.
  Status read_items(std::size_t count, std::vector<std::string>& items) {
    BatchQuery query{.shared = R"("dataset":"b/n@3")", .patience = std::chrono::seconds(2)};
    for (std::size_t i = 0; i < count; ++i)
      query.items.push_back(fmt::format(R"({{"row":{}}})", i));
    const BatchVisit visit = [&items](std::size_t item, frames::Frame frame) -> Status {
      EXPECT_EQ(item, items.size());
      const bool is_error = frame.header.kind == frames::Kind::error;
      items.push_back(is_error ? error_in(frame).message() : frame.payload);
      return {};
    };
    return world_.run(read_batch(client_, query, visit));
  }

  sim::SimWorld world_;
  httpclient::ScriptedServer server_;
  io::Watchdog watchdog_;
  s3client::S3Client client_;
};

TEST_F(DatasetTest, ACallIsSignedAndItsRefusalIsTheServicesOwnSentence) {
  server_.expect({read_head(), send(answer("200 OK", R"({"datasets":[]})")), read_head(),
                  send(answer("404 Not Found", R"({"error":"not_found","message":"no a/b"})"))});
  NativeCall list{.path = "datasets"};
  EXPECT_EQ(world_.run(call_native(client_, list)).value(), R"({"datasets":[]})");
  NativeCall one = native_target("datasets/a/b%401?log&max=5").value();
  const auto refused = world_.run(call_native(client_, one));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::not_found);
  EXPECT_EQ(refused.error().detail(), "no a/b");
  const std::string& sent = server_.received(0);
  EXPECT_TRUE(sent.starts_with("GET /_/v1/datasets HTTP/1.1\r\n")) << sent;
  EXPECT_NE(sent.find("GET /_/v1/datasets/a/b%401?log=&max=5 HTTP/1.1"), sent.npos) << sent;
  EXPECT_NE(sent.find("Authorization: AWS4-HMAC-SHA256"), sent.npos);
}

TEST_F(DatasetTest, AChangeThatIsSentAgainHasOneTransaction) {
  server_.expect({read("}"), close()});
  server_.expect({read("}"), send(answer("200 OK", R"({"version":2})"))});
  NativeCall call{.method = "POST", .path = "datasets/b/n", .query = {{"commit", ""}}};
  const auto done = world_.run(call_json(client_, call, {{"restore", 1}}));
  ASSERT_TRUE(done) << done.error().message();
  ASSERT_EQ(server_.accepted(), 2U);
  const std::string first = body_in(server_.received(0));
  EXPECT_TRUE(first.starts_with(R"({"restore":1,"transaction":"call-)")) << first;
  EXPECT_EQ(body_in(server_.received(1)), first);
}

TEST_F(DatasetTest, ATransactionOfTheCallersOwnStays) {
  server_.always({read("]}"), send(answer("200 OK", "{}"))});
  NativeCall call{.method = "POST", .path = "datasets", .query = {{"commit", ""}}};
  call.body = R"({"commits":[{"dataset":"b/n","transaction":"mine"},{"dataset":"b/m"}]})";
  ASSERT_TRUE(world_.run(call_native(client_, call)));
  const std::string sent = body_in(server_.received(0));
  EXPECT_NE(sent.find(R"({"dataset":"b/n","transaction":"mine"})"), sent.npos) << sent;
  EXPECT_NE(sent.find(R"({"dataset":"b/m","transaction":"call-)"), sent.npos) << sent;
}

TEST_F(DatasetTest, WhatIsNoUtf8CannotBeSentInJson) {
  NativeCall call{.method = "POST", .path = "datasets/b/n", .query = {{"commit", ""}}};
  const auto refused = world_.run(call_json(client_, call, {{"delete", {"\xff"}}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::bad_request);
  EXPECT_EQ(as_utf8("a\xff"), "a\uFFFD");
}

TEST(AnswerReader, TellsWhatTheAnswerLacks) {
  const auto document = nlohmann::json::parse(
      R"({"n":7,"t":"x","name_encoded":"%FF","list":["a"],"mixed":["a",1],"minus":-1})");
  AnswerReader good(document);
  EXPECT_EQ(good.number("n"), 7U);
  EXPECT_EQ(good.text("t"), "x");
  EXPECT_EQ(good.name("name"), "\xff");
  EXPECT_EQ(good.name("t"), "x");
  EXPECT_EQ(good.texts("list"), std::vector<std::string>{"a"});
  EXPECT_TRUE(good.status());
  for (const char* name : {"t", "minus", "none"}) {
    AnswerReader answer(document);
    EXPECT_EQ(answer.number(name), 0U);
    EXPECT_EQ(answer.status().error().code(), Errc::io) << name;
  }
  AnswerReader lists(document);
  EXPECT_TRUE(lists.list("n").empty());
  EXPECT_TRUE(lists.object("list").empty());
  EXPECT_NE(lists.status().error().detail().find("\"n\""), std::string_view::npos);
  AnswerReader mixed(document);
  EXPECT_EQ(mixed.texts("mixed").size(), 1U);
  EXPECT_FALSE(mixed.status());
  const nlohmann::json number = 3;
  AnswerReader none(number);
  EXPECT_EQ(none.text("t"), "");
  EXPECT_FALSE(none.status());
}

TEST_F(DatasetTest, ASnapshotThatBreaksOffIsReadFromThereOn) {
  const std::string snapshot = sample_snapshot();
  const std::string begin = snapshot.substr(0, 100);
  server_.expect({read_head(), send(answer("200 OK", facts_of(snapshot))), read_head(),
                  send(fmt::format("HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\n\r\n{}",
                                   snapshot.size(), begin)),
                  close()});
  server_.expect({read_head(), send(answer("206 Partial Content", snapshot.substr(100)))});
  const auto opened = world_.run(open_dataset(client_, "leat://b/n@best"));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ((*opened)->facts().reference(), "b/n@3");
  EXPECT_EQ((*opened)->view().find("one").value(), 0U);
  EXPECT_NE(server_.received(0).find("/_/v1/datasets/b/n%40best"), std::string::npos);
  EXPECT_NE(server_.received(0).find("If-Match: \"f00\"\r\n"), std::string::npos);
  EXPECT_NE(server_.received(1).find("Range: bytes=100-"), std::string::npos);
}

TEST_F(DatasetTest, ADamagedSnapshotIsAnErrorThatNamesTheDataset) {
  std::string snapshot = sample_snapshot();
  snapshot.back() = static_cast<char>(snapshot.back() ^ 1);
  const std::string damaged = answer("206 Partial Content", snapshot);
  server_.expect({read_head(), send(answer("200 OK", facts_of(snapshot))), read_head(),
                  send(damaged), read_head(), send(damaged), read_head(), send(damaged)});
  const auto opened = world_.run(open_dataset(client_, "b/n"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::corrupt);
  EXPECT_NE(opened.error().detail().find("b/n@3"), std::string_view::npos);
}

TEST_F(DatasetTest, ABatchThatBreaksOffGoesOnWithWhatIsMissing) {
  const std::string first = frame({.item = 0}, "zero") + frame({.item = 1}, "one");
  server_.expect(
      {read("]}"), send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + first), close()});
  const std::string rest = frame({.item = 0, .kind = frames::Kind::error, .status = 404},
                                 R"({"error":"not_found","message":"no row 2"})") +
                           frame({.item = 1, .kind = frames::Kind::end}, R"({"complete":false})");
  server_.expect({read("]}"), send(answer("200 OK", rest))});
  std::vector<std::string> items;
  ASSERT_TRUE(read_items(3, items));
  EXPECT_EQ(items, (std::vector<std::string>{"zero", "one", "not_found: no row 2"}));
  EXPECT_NE(server_.received(0).find(R"("dataset":"b/n@3","items":[{"row":0},{"row":1})"),
            std::string::npos);
  EXPECT_NE(server_.received(1).find(R"("items":[{"row":2}]})"), std::string::npos);
}

TEST_F(DatasetTest, ABatchThatIsDamagedOrEndsEarlyIsNeverTakenForWhole) {
  std::string damaged = frame({.item = 0}, "zero");
  damaged[20] = 'Z';
  const std::string early = frame({.item = 0, .kind = frames::Kind::end}, R"({"complete":true})");
  server_.expect({read("]}"), send(answer("200 OK", damaged))});
  server_.expect({read("]}"), send(answer("200 OK", early))});
  server_.expect({read("]}"), send(answer("200 OK", early))});
  server_.always({read("]}"), send(answer("200 OK", early))});
  std::vector<std::string> items;
  const Status read = read_items(1, items);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Errc::closed);
  EXPECT_TRUE(items.empty());
}

TEST_F(DatasetTest, WhatIsNoDescriptionOfADatasetIsToldSo) {
  EXPECT_FALSE(parse_facts("[]"));
  EXPECT_FALSE(parse_facts(R"({"dataset":"b/n"})"));
  EXPECT_FALSE(parse_facts(facts_of("x").replace(2, 7, "nothing")));
  EXPECT_TRUE(parse_facts(facts_of("x")));
}

}  // namespace
}  // namespace leat::dataset
