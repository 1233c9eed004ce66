// Opening objects of a node on this machine: a scripted node on a simulated network says who may,
// and real sockets pass real files.
#include "local/local_shards.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/encoding.h"
#include "handover/handover.h"
#include "httpclient/scripted_server_test.h"
#include "io/unix_socket.h"
#include "record/frame.h"
#include "support/temp_folder.h"

namespace leat::local {
namespace {

using httpclient::read_head;
using httpclient::Script;
using httpclient::send;
using s3client::ObjectName;
using testing::TempFolder;

std::size_t open_descriptors() {
  return TempFolder::names_in("/proc/self/fd").size();
}

class LocalShardsTest : public ::testing::Test {
 protected:
  LocalShardsTest() {
    world_.spawn(watchdog_.run(), [](const Status&) {});
    world_.spawn(client_.run(), [](const Status&) {});
    folder_.write("a", "the bytes of a file, and what is behind them");
    file_ = disk_.open(folder_.path("a"), io::OpenMode::read).value();
    world_.spawn(pass_files(), [](const Status&) {});
  }
  ~LocalShardsTest() override {
    EXPECT_TRUE(world_.run(client_.stop()));
    listener_->close();
    world_.run_for(std::chrono::milliseconds(1));
  }

  // Answers every ticket with `answer_` and `passed_` descriptors of the file.
  rt::Task<void> pass_files() {
    while (true) {
      LEAT_CO_TRY(const auto stream, co_await listener_->accept());
      std::vector<std::byte> ticket(16);
      std::vector<io::Descriptor> none;
      const MutableBytes target(ticket);
      LEAT_CO_DO(co_await io::read_all_with(*stream, target, none));
      tickets_.push_back(to_hex(ticket));
      const std::vector<int> passed(passed_, file_->descriptor());
      const Bytes text = as_bytes(answer_);
      if (!text.empty()) LEAT_CO_DO(co_await io::write_all_with(*stream, text, passed));
      if (holds_on_) held_.push_back(stream->peer().host);
      while (holds_on_) {
        LEAT_CO_DO(co_await stream->wait(io::Interest::read));
        if (stream->try_read(target).value_or(0) == 0) break;
      }
    }
  }

  static std::string answered(std::string_view status, std::string_view body) {
    return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
  }

  // What a node says that lets us have the object.
  std::string admitted(const std::string& ticket = std::string(32, 'a')) const {
    return answered("200 OK", fmt::format(R"({{"socket":"{}","objects":[{{"ticket":"{}"}}]}})",
                                          listener_->name(), ticket));
  }
  static std::string refused(const std::string& code) {
    return answered("200 OK",
                    R"({"socket":"@x","objects":[{"error":")" + code + R"(","message":"so"}]})");
  }
  void say(const std::string& answer) {
    node_.expect({httpclient::read("\"objects\""), send(answer)});
  }

  Result<LocalObjectPtr> open(const std::string& key = "k", const std::string& etag = "tag") {
    ObjectName name{"b", key};
    return world_.run(shards_->open(name, etag));
  }
  Errc error_of(const std::string& key = "k") {
    const auto opened = open(key);
    return opened ? Errc::internal : opened.error().code();
  }

  const TempFolder folder_;
  io::PosixDisk disk_;
  std::unique_ptr<io::File> file_;
  sim::SimWorld world_{5};
  httpclient::ScriptedServer node_{world_, {"server", 80}};
  io::Watchdog watchdog_{world_.clock("client"), std::chrono::milliseconds(100)};
  s3client::S3Client client_{
      {world_.shard(), world_.network("client"), world_.clock("client"), watchdog_, world_.rng()},
      {.endpoint = s3client::parse_endpoint("http://server").value(),
       .signer = {.access_key = "KEY", .secret = "SECRET"},
       .http = {.idle_max_per_host = 0},
       .retry = {.attempts_max = 1}}};
  std::unique_ptr<io::UnixListener> listener_ =
      io::UnixListener::listen(world_.shard(), fmt::format("@leat-local-{}", ::getpid())).value();
  std::optional<LocalShards> shards_{std::in_place, world_.shard(), watchdog_, client_,
                                     LocalOptions{.descriptors_max = 3}};
  std::string answer_ = handover::encode(
      {.files = {{.size_bytes = 9, .sums = record::sum_blocks({as_bytes("the bytes")}).sums}}});
  std::size_t passed_ = 1;
  bool holds_on_ = false;
  std::vector<std::string> tickets_;
  std::vector<std::string> held_;
};

TEST_F(LocalShardsTest, AnObjectIsOpenedWithItsTicketAndRead) {
  say(admitted("00112233445566778899aabbccddeeff"));
  const auto object = open("train/\"1\".tar");
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_EQ(tickets_, std::vector<std::string>{"00112233445566778899aabbccddeeff"});
  EXPECT_NE(node_.received(0).find("POST /_/v1/local HTTP/1.1\r\n"), std::string::npos);
  EXPECT_NE(node_.received(0).find(R"({"objects":[{"etag":"tag","object":"b/train/\"1\".tar"}]})"),
            std::string::npos)
      << node_.received(0);
  std::string text(5, '?');
  EXPECT_TRUE((*object)->read(4, std::as_writable_bytes(std::span(text))));
  EXPECT_EQ(text, "bytes");
  EXPECT_EQ((*object)->size_bytes(), 9U);
}

TEST_F(LocalShardsTest, WhatIsOpenIsNotAskedForAgain) {
  say(admitted());
  const LocalObjectPtr first = open().value();
  EXPECT_EQ(open().value(), first);
  EXPECT_EQ(node_.accepted(), 1U);
  say(admitted());
  EXPECT_NE(open("k", "another tag").value(), first) << "another version";
  EXPECT_EQ(shards_->descriptors(), 2U);
}

TEST_F(LocalShardsTest, DescriptorsAreBoundedAndGivenBack) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    say(admitted());
    ASSERT_TRUE(open(std::to_string(i)));
    EXPECT_LE(shards_->descriptors(), 3U);
  }
  EXPECT_EQ(open_descriptors(), before + 3);
  EXPECT_TRUE(open("9")) << "the last ones are kept";
  EXPECT_EQ(node_.accepted(), 10U);
  say(admitted());
  const auto held = open("10").value();
  for (int i = 11; i < 15; ++i) {
    say(admitted());
    ASSERT_TRUE(open(std::to_string(i)));
  }
  std::string text(9, '?');
  EXPECT_TRUE(held->read(0, std::as_writable_bytes(std::span(text)))) << "it was dropped, but held";
  shards_.reset();
  EXPECT_EQ(open_descriptors(), before + 1);
}

TEST_F(LocalShardsTest, KnowsWhatCanStayOpen) {
  EXPECT_TRUE(shards_->can_keep(3, 3 * kMiB));
  EXPECT_TRUE(shards_->can_keep(2, 127 * kMiB)) << "one of two files, the other of one";
  EXPECT_FALSE(shards_->can_keep(2, 128 * kMiB));
  EXPECT_FALSE(shards_->can_keep(4, 4 * kMiB));
}

TEST_F(LocalShardsTest, WithoutAnETagNothingIsKept) {
  say(admitted());
  ASSERT_TRUE(open("k", ""));
  EXPECT_EQ(shards_->descriptors(), 0U);
  EXPECT_EQ(node_.received(0).find("etag"), std::string::npos);
}

TEST_F(LocalShardsTest, WhatTheNodeSaysOfAnObjectIsHandedOn) {
  for (const auto& [code, errc] : {std::pair("denied", Errc::denied),
                                   {"not_found", Errc::not_found},
                                   {"precondition_failed", Errc::precondition_failed},
                                   {"not_implemented", Errc::not_implemented},
                                   {"busy", Errc::busy},
                                   {"nonsense", Errc::io}}) {
    say(refused(code));
    EXPECT_EQ(error_of(), errc) << code;
  }
  EXPECT_TRUE(shards_->is_within_reach());
}

TEST_F(LocalShardsTest, AKeyThatJsonCannotSayIsReadOverHttp) {
  EXPECT_EQ(error_of("\xff"), Errc::not_implemented);
  EXPECT_EQ(node_.accepted(), 0U);
}

TEST_F(LocalShardsTest, ANodeThatIsElsewhereIsAskedOnce) {
  say(answered("200 OK", R"({"socket":"@leat-nobody","objects":[{"ticket":")" +
                             std::string(32, '0') + R"("}]})"));
  EXPECT_EQ(error_of(), Errc::not_implemented);
  EXPECT_FALSE(shards_->is_within_reach());
  EXPECT_EQ(error_of(), Errc::not_implemented);
  EXPECT_EQ(node_.accepted(), 1U);
}

TEST_F(LocalShardsTest, ANodeWithoutTheCallIsAskedOnce) {
  say(answered("501 Not Implemented", R"({"error":"not_implemented","message":"off"})"));
  EXPECT_EQ(error_of(), Errc::not_implemented);
  EXPECT_FALSE(shards_->is_within_reach());
}

TEST_F(LocalShardsTest, AnswersThatMakeNoSenseAreErrors) {
  for (const std::string body :
       {"", "[]", "{}", R"({"objects":[]})", R"({"objects":[7]})", R"({"objects":[{}]})",
        R"({"socket":"@x","objects":[{"ticket":"short"}]})", R"({"socket":7,"objects":{}})"}) {
    say(answered("200 OK", body));
    EXPECT_EQ(error_of(), Errc::io) << body;
  }
}

TEST_F(LocalShardsTest, CutAndForgedAnswersOfTheSocketLeaveNothingOpen) {
  const std::string good = answer_;
  const std::size_t before = open_descriptors();
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{32}, good.size() - 1}) {
    answer_ = good.substr(0, length);
    say(admitted());
    EXPECT_EQ(error_of(), Errc::closed) << length;
  }
  answer_ = good;
  answer_[40] ^= 1;
  say(admitted());
  EXPECT_EQ(error_of(), Errc::corrupt);
  answer_ = good;
  for (const std::size_t count : {0U, 2U}) {
    passed_ = count;
    say(admitted());
    EXPECT_EQ(error_of(), Errc::io) << count << " files instead of one";
  }
  answer_ = handover::encode({.status = 503, .message = "too many"});
  say(admitted());
  EXPECT_EQ(error_of(), Errc::busy);
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_TRUE(shards_->is_within_reach());
}

TEST_F(LocalShardsTest, ANodeThatSaysNothingIsNotWaitedForLong) {
  answer_ = "";
  holds_on_ = true;
  say(admitted());
  EXPECT_EQ(error_of(), Errc::timeout);
  EXPECT_EQ(held_.size(), 1U);
}

}  // namespace
}  // namespace leat::local
