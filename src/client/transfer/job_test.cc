#include "transfer/job.h"

#include <gtest/gtest.h>

#include "httpclient/scripted_server_test.h"
#include "s3client/endpoint.h"
#include "transfer/copy.h"

namespace leat::transfer {
namespace {

using httpclient::read_head;
using httpclient::send;

// Jobs on a simulated disk, with a service that says what it is told.
class JobTest : public ::testing::Test {
 protected:
  JobTest()
      : server_(world_, {"server", 80}),
        watchdog_(world_.clock("here"), std::chrono::milliseconds(100)),
        client_(
            {world_.shard(), world_.network("here"), world_.clock("here"), watchdog_, world_.rng()},
            {.endpoint = s3client::parse_endpoint("http://server").value(),
             .signer = {.access_key = "KEY", .secret = "SECRET"}}),
        memory_(kMiB),
        tools_{world_.shard(), client_, world_.disk("here"), world_.file_io("here"),
               pool_,          memory_, counters_,           options_} {
    world_.spawn(watchdog_.run(), [](const Status&) {});
    world_.spawn(client_.run(), [](const Status&) {});
  }
  void TearDown() override { EXPECT_TRUE(world_.run(client_.stop())); }

  static std::string answer(std::string_view status, std::string_view body = "") {
    return "HTTP/1.1 " + std::string(status) +
           "\r\nETag: \"tag\"\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
  }
  static Job move_down() {
    Job job{.action = Action::get, .size_bytes = 5, .remove_source = true};
    job.source = {"b", "k"};
    job.path = "new/folder/f";
    return job;
  }

  sim::SimWorld world_{5};
  httpclient::ScriptedServer server_;
  io::Watchdog watchdog_;
  s3client::S3Client client_;
  rt::BlockingPool pool_{"test", 0, 1};
  MemoryBudget memory_;
  Counters counters_;
  TransferOptions options_;
  Tools tools_;
};

TEST_F(JobTest, AFileThatWasMovedHereOutlastsAPowerCut) {
  server_.expect(
      {read_head(), send(answer("200 OK", "bytes")), read_head(), send(answer("204 Gone"))});
  ASSERT_TRUE(world_.run(execute(tools_, move_down())));
  EXPECT_NE(server_.received(0).find("If-Match: \"tag\"\r\n"), std::string::npos);
  world_.disk("here").crash(sim::CrashMode::drop_unsynced);
  EXPECT_EQ(io::read_text(world_.disk("here"), "new/folder/f").value(), "bytes");
}

TEST_F(JobTest, AnObjectStaysIfItsFileCannotBeMadeDurable) {
  server_.expect({read_head(), send(answer("200 OK", "bytes"))});
  world_.disk("here").faults().add(
      {.call = sim::DiskCall::sync, .nth = 1, .path_part = "leat-part"});
  EXPECT_FALSE(world_.run(execute(tools_, move_down())));
  EXPECT_EQ(server_.received(0).find("DELETE"), std::string::npos);
}

TEST_F(JobTest, AnObjectThatIsGoneAlreadyWasMoved) {
  server_.expect(
      {read_head(), send(answer("200 OK", "bytes")), read_head(), send(answer("404 Not Found"))});
  EXPECT_TRUE(world_.run(execute(tools_, move_down())));
}

// The answer to a DELETE was lost, and its second attempt met no object.
TEST_F(JobTest, AnObjectThatIsGoneWasMovedAlsoIfThatIsCalledAFailedCondition) {
  server_.expect({read_head(), send(answer("200 OK", "bytes")), read_head(),
                  send(answer("412 Precondition Failed")), read_head(),
                  send(answer("404 Not Found"))});
  EXPECT_TRUE(world_.run(execute(tools_, move_down())));
  EXPECT_NE(server_.received(0).find("HEAD /b/k "), std::string::npos);
}

TEST_F(JobTest, AnObjectThatWasReplacedMeanwhileWasNotMoved) {
  server_.expect({read_head(), send(answer("200 OK", "bytes")), read_head(),
                  send(answer("412 Precondition Failed")), read_head(),
                  send("HTTP/1.1 200 OK\r\nETag: \"other\"\r\nContent-Length: 5\r\n\r\n")});
  const auto moved = world_.run(execute(tools_, move_down()));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code(), Errc::conflict);
}

TEST_F(JobTest, ASmallObjectIsNotWrittenIntoWhatAnotherProcessFetches) {
  auto& disk = world_.disk("here");
  ASSERT_TRUE(disk.make_directories("new/folder"));
  const auto other = disk.open("new/folder/f.leat-part", io::OpenMode::create).value();
  ASSERT_TRUE(other->lock());
  ASSERT_TRUE(other->write_all_at(0, as_bytes("theirs")));
  server_.expect({read_head(), send(answer("200 OK", "bytes"))});
  const auto refused = world_.run(execute(tools_, move_down()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::conflict);
  EXPECT_EQ(io::read_text(disk, "new/folder/f.leat-part").value(), "theirs");
  EXPECT_FALSE(disk.info("new/folder/f"));
}

TEST_F(JobTest, ALargeCopyTakesNoPartsOfAnObjectThatWasReplaced) {
  server_.expect({read_head(), send("HTTP/1.1 200 OK\r\nETag: \"other\"\r\n"
                                    "Content-Length: 6000000000\r\n\r\n")});
  CopyJob job{.source = {"b", "k"}, .target = {"b", "t"}, .size_bytes = 6 * kGiB, .etag = "tag"};
  const Status refused = world_.run(copy_on_service(tools_, job));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::precondition_failed);
  EXPECT_EQ(server_.received(0).find("POST"), std::string::npos);
}

TEST_F(JobTest, ALargeCopyHasTheFieldsAndTagsOfItsSource) {
  const std::string fields =
      "Cache-Control: no-cache\r\nContent-Disposition: inline\r\nContent-Encoding: gzip\r\n"
      "Content-Language: de\r\nExpires: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
      "Content-Type: a/b\r\nx-amz-meta-m: 1\r\n";
  server_.expect(
      {read_head(),
       send("HTTP/1.1 200 OK\r\nETag: \"tag\"\r\n" + fields + "Content-Length: 6000000000\r\n\r\n"),
       read_head(),
       send(answer("200 OK",
                   "<Tagging><TagSet><Tag><Key>a b</Key><Value>1&amp;2</Value></Tag><Tag><Key>c"
                   "</Key><Value/></Tag></TagSet></Tagging>")),
       read_head(), send(answer("403 Forbidden"))});
  CopyJob job{.source = {"b", "k"}, .target = {"b", "t"}, .size_bytes = 6 * kGiB, .etag = "tag"};
  EXPECT_FALSE(world_.run(copy_on_service(tools_, job)));
  const std::string sent = server_.received(0);
  const std::size_t upload = sent.find("POST /b/t?uploads= ");
  ASSERT_NE(upload, std::string::npos) << sent;
  for (std::size_t at = 0; at < fields.size();) {
    const std::size_t end = fields.find('\n', at) + 1;
    EXPECT_NE(sent.find(fields.substr(at, end - at), upload), std::string::npos) << sent;
    at = end;
  }
  EXPECT_NE(sent.find("x-amz-tagging: a%20b=1%262&c=\r\n", upload), std::string::npos) << sent;
}

TEST_F(JobTest, ALargeCopyDoesNotLoseTagsThatItMayNotRead) {
  server_.expect({read_head(),
                  send("HTTP/1.1 200 OK\r\nETag: \"tag\"\r\n"
                       "Content-Length: 6000000000\r\n\r\n"),
                  read_head(), send(answer("403 Forbidden"))});
  CopyJob job{.source = {"b", "k"}, .target = {"b", "t"}, .size_bytes = 6 * kGiB, .etag = "tag"};
  const Status refused = world_.run(copy_on_service(tools_, job));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::denied);
}

TEST_F(JobTest, ALargeCopyThatFailsAtItsEndLeavesNoPartsBehind) {
  options_.parts_at_once = 1;
  httpclient::Script script = {
      read_head(),
      send("HTTP/1.1 200 OK\r\nETag: \"tag\"\r\nContent-Length: 6442450944\r\n\r\n"),
      read_head(),
      send(answer("200 OK", "<Tagging><TagSet/></Tagging>")),
      read_head(),
      send(answer("200 OK",
                  "<InitiateMultipartUploadResult><UploadId>up</UploadId></"
                  "InitiateMultipartUploadResult>"))};
  for (int part = 0; part < 12; ++part) {
    script.push_back(read_head());
    script.push_back(send(answer("200 OK", "<CopyPartResult><ETag>e</ETag></CopyPartResult>")));
  }
  script.push_back(httpclient::read("</CompleteMultipartUpload>"));
  script.push_back(send(answer("400 Bad Request", "<Error><Code>InvalidPart</Code></Error>")));
  script.push_back(httpclient::read("DELETE /b/t?uploadId=up "));
  script.push_back(read_head());
  script.push_back(send(answer("204 No Content")));
  server_.expect(std::move(script));
  CopyJob job{.source = {"b", "k"}, .target = {"b", "t"}, .size_bytes = 6 * kGiB, .etag = "tag"};
  EXPECT_FALSE(world_.run(copy_on_service(tools_, job)));
  EXPECT_NE(server_.received(0).find("DELETE /b/t?uploadId=up "), std::string::npos)
      << server_.received(0);
}

}  // namespace
}  // namespace leat::transfer
