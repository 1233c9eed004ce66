#include "share/share.h"

#include <gtest/gtest.h>

#include <string>

#include "share/site_test.h"

namespace leat::share {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using testing::RawClient;

class ShareTest : public ::testing::Test {
 protected:
  ShareTest() {
    io::SeededRng(7).fill(std::as_writable_bytes(std::span(large)));
    EXPECT_EQ(site.put("/small.txt", small).status, 201);
    EXPECT_EQ(site.put("/d/large.tar", large).status, 201);
  }

  sim::SimDisk& disk() { return site.http->world.disk("server"); }

  const std::string small = "0123456789";
  std::string large = std::string(700000, '?');
  Site site{/*writable=*/true};
};

TEST_F(ShareTest, ServesSmallAndLargeFilesByteForByte) {
  const Answer text = site.get("/small.txt");
  EXPECT_EQ(text.status, 200);
  EXPECT_EQ(text.body, small);
  EXPECT_EQ(text.field("content-type"), "text/plain");
  EXPECT_EQ(text.field("accept-ranges"), "bytes");
  EXPECT_EQ(text.field("last-modified"), "Wed, 01 Jan 2025 00:00:00 GMT");
  const Answer shard = site.get("/d/large.tar");
  EXPECT_EQ(shard.status, 200);
  EXPECT_TRUE(shard.body == large);
  EXPECT_EQ(shard.field("content-type"), "application/x-tar");
  EXPECT_EQ(shard.field("content-length"), "700000");
}

TEST_F(ShareTest, HeadSaysWhatGetWouldSend) {
  for (const std::string_view target : {"/small.txt", "/d/large.tar"}) {
    const Answer get = site.get(target);
    const Answer head = site.ask("HEAD", target);
    EXPECT_EQ(head.status, 200);
    for (const std::string_view name :
         {"etag", "content-length", "content-type", "last-modified"}) {
      EXPECT_EQ(head.field(name), get.field(name)) << name;
    }
  }
}

TEST_F(ShareTest, HeadIgnoresRangesAndReadsNothing) {
  for (const std::string_view range : {"bytes=0-0", "bytes=9999999-"}) {
    const Answer head = site.ask("HEAD", "/d/large.tar", "Range: " + std::string(range) + "\r\n");
    EXPECT_EQ(head.status, 200) << range;
    EXPECT_EQ(head.field("content-length"), "700000") << range;
    EXPECT_EQ(head.field("content-range"), "(none)") << range;
  }
  const std::uint64_t reads = disk().calls(sim::DiskCall::read);
  EXPECT_EQ(site.ask("HEAD", "/d/large.tar").status, 200);
  EXPECT_EQ(disk().calls(sim::DiskCall::read), reads);
}

TEST_F(ShareTest, TheQueryIsNoPartOfTheName) {
  EXPECT_EQ(site.get("/small.txt?x=/../y").body, small);
}

struct RangeCase {
  std::string_view range;
  int status;
  std::size_t first;
  std::size_t size;
};

// Abuse case 33.
TEST_F(ShareTest, RangesOfSmallAndLargeFiles) {
  for (const std::string_view target : {"/small.txt", "/d/large.tar"}) {
    const std::string& content = target == "/small.txt" ? small : large;
    const std::size_t size = content.size();
    const std::string many = "bytes=0-0" + [] {
      std::string text;
      for (int i = 1; i < 1000; ++i) {
        text += "," + std::to_string(i) + "-" + std::to_string(i + 1);
      }
      return text;
    }();
    for (const RangeCase& c :
         {RangeCase{"bytes=0-0", 206, 0, 1}, RangeCase{"bytes=3-", 206, 3, size - 3},
          RangeCase{"bytes=-4", 206, size - 4, 4}, RangeCase{"bytes=2-5", 206, 2, 4},
          RangeCase{"bytes=0-18446744073709551615", 206, 0, size},
          RangeCase{"bytes=-99999999999999999999999", 206, 0, size},
          RangeCase{"bytes=18446744073709551615-", 416, 0, 0},
          RangeCase{"bytes=700000-", 416, 0, 0}, RangeCase{"bytes=-0", 416, 0, 0},
          RangeCase{"bytes=5-2", 200, 0, size}, RangeCase{"bytes=0-1,2-3", 200, 0, size},
          RangeCase{"lines=0-1", 200, 0, size}, RangeCase{"bytes=a-b", 200, 0, size},
          RangeCase{many, 200, 0, size}}) {
      const Answer answer = site.get(target, "Range: " + std::string(c.range) + "\r\n");
      ASSERT_EQ(answer.status, c.status) << target << " " << c.range.substr(0, 40);
      if (c.status == 416) {
        EXPECT_EQ(answer.field("content-range"), "bytes */" + std::to_string(size));
        continue;
      }
      EXPECT_TRUE(answer.body == content.substr(c.first, c.size)) << target << " " << c.range;
      if (c.status == 206) {
        EXPECT_EQ(answer.field("content-range"), "bytes " + std::to_string(c.first) + "-" +
                                                     std::to_string(c.first + c.size - 1) + "/" +
                                                     std::to_string(size));
      }
    }
  }
}

TEST_F(ShareTest, NothingOfAnEmptyFileIsARange) {
  ASSERT_EQ(site.put("/empty", "").status, 201);
  EXPECT_EQ(site.get("/empty").field("content-length"), "0");
  EXPECT_EQ(site.get("/empty", "Range: bytes=0-\r\n").status, 416);
}

TEST_F(ShareTest, ConditionalRequestsCompareTheVersion) {
  const std::string etag = site.get("/small.txt").field("etag");
  const std::string date = site.get("/small.txt").field("last-modified");
  const Answer unchanged = site.get("/small.txt", "If-None-Match: " + etag + "\r\n");
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.field("etag"), etag);
  EXPECT_EQ(unchanged.field("content-length"), "(none)");
  EXPECT_EQ(site.get("/small.txt", "If-None-Match: \"x\"\r\n").status, 200);
  EXPECT_EQ(site.get("/small.txt", "If-Match: " + etag + "\r\n").status, 200);
  EXPECT_EQ(site.get("/small.txt", "If-Match: \"x\"\r\n").status, 412);
  EXPECT_EQ(site.get("/small.txt", "If-Modified-Since: " + date + "\r\n").status, 304);
  EXPECT_EQ(site.get("/small.txt", "If-Unmodified-Since: Wed, 01 Jan 2020 00:00:00 GMT\r\n").status,
            412);
  site.http->world.run_for(1s);
  ASSERT_EQ(site.put("/small.txt", "ABCDEFGHIJ").status, 200);
  EXPECT_EQ(site.get("/small.txt", "If-None-Match: " + etag + "\r\n").body, "ABCDEFGHIJ");
}

TEST_F(ShareTest, ARangeOfAnotherVersionIsNotServed) {
  const std::string etag = site.get("/small.txt").field("etag");
  const std::string range = "Range: bytes=5-\r\n";
  EXPECT_EQ(site.get("/small.txt", range + "If-Range: " + etag + "\r\n").body, "56789");
  // A date names no version exactly: two may share a second.
  EXPECT_EQ(site.get("/small.txt", range + "If-Range: Wed, 01 Jan 2025 00:00:00 GMT\r\n").body,
            "0123456789");
  site.http->world.run_for(2s);
  ASSERT_EQ(site.put("/small.txt", "ABCDEFGHIJ").status, 200);
  const Answer changed = site.get("/small.txt", range + "If-Range: " + etag + "\r\n");
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.body, "ABCDEFGHIJ");
  for (const std::string_view version :
       {"Wed, 01 Jan 2025 00:00:00 GMT", "W/\"x\"", "nonsense", ""}) {
    EXPECT_EQ(site.get("/small.txt", range + "If-Range: " + std::string(version) + "\r\n").status,
              200)
        << version;
  }
}

TEST_F(ShareTest, NamesAreDecodedOnce) {
  ASSERT_EQ(site.put("/a%20b%2Fc%25", "x").status, 201);
  EXPECT_EQ(site.get("/a%20b/c%25").body, "x");
  EXPECT_TRUE(disk().info("a b/c%"));
  EXPECT_EQ(site.get("/s%6dall.txt").body, small);
  EXPECT_EQ(site.get("/small.txt%00").status, 404);
  EXPECT_EQ(site.get("/small.txt%2").status, 400);
  EXPECT_EQ(site.get("/%zz").status, 400);
}

TEST_F(ShareTest, PathsThatAreNoNamesAreNotFoundByAnyMethod) {
  for (const std::string_view target :
       {"/", "//", "//small.txt", "/d//large.tar", "/d/", "/./small.txt", "/d/../small.txt",
        "/../small.txt", "/%2e%2e/small.txt", "/d/%2e%2e/small.txt", "/d%2f..%2fsmall.txt",
        "/.leat-upload-0000000000000000", "/d/.leat-upload-1", "/nothing", "/d/nothing",
        "/small.txt/x"}) {
    EXPECT_EQ(site.get(target).status, 404) << target;
    EXPECT_EQ(site.ask("HEAD", target).status, 404) << target;
    EXPECT_EQ(site.ask("DELETE", target).status, 404) << target;
  }
  for (const std::string_view target :
       {"/", "/d/", "/../x", "/%2e%2e/x", "/.leat-upload-1", "//x"}) {
    EXPECT_EQ(site.put(target, "x").status, 404) << target;
  }
}

TEST_F(ShareTest, TheNativeApiIsNotAFolder) {
  EXPECT_EQ(site.put("/_/v1/x", "x").status, 404);
  EXPECT_EQ(site.get("/_/v1/x").status, 404);
  EXPECT_EQ(site.put("/_x", "x").status, 201) << "only the prefix is reserved";
}

TEST_F(ShareTest, AReadOnlyFolderIsNotWritten) {
  Site readers(/*writable=*/false);
  for (const std::string_view method : {"PUT", "DELETE", "POST", "OPTIONS"}) {
    const Answer refused = readers.ask(method, "/small.txt", "", "x");
    EXPECT_EQ(refused.status, 405) << method;
    EXPECT_EQ(refused.field("allow"), "GET, HEAD") << method;
  }
  EXPECT_EQ(readers.http->world.disk("server").list(".").value().size(), 0U);
  EXPECT_EQ(site.ask("POST", "/small.txt").field("allow"), "GET, HEAD, PUT, DELETE");
}

TEST_F(ShareTest, PutSaysWhetherItReplacedAndHowDurableItIs) {
  const Answer created = site.put("/new", "1");
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.field("x-leat-durability"), "sync");
  EXPECT_EQ(created.field("content-length"), "0");
  EXPECT_EQ(site.put("/new", "2").status, 200);
  EXPECT_EQ(site.get("/new").body, "2");
  EXPECT_EQ(site.put("/d", "x").status, 409);
  EXPECT_EQ(site.put("/small.txt/x", "x").status, 409);
}

TEST_F(ShareTest, PutTakesChunksAndRefusesWhatHasNoEnd) {
  RawClient client(*site.http);
  const Answer chunked = client.ask(
      "PUT /c HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.status, 201);
  EXPECT_EQ(site.get("/c").body, "abcdef");
  EXPECT_EQ(client.ask("PUT /e HTTP/1.1\r\nHost: s\r\n\r\n").status, 411);
}

TEST_F(ShareTest, AConditionOnAWriteIsRefusedAndNotIgnored) {
  for (const std::string_view field :
       {"If-Match: *", "If-None-Match: *", "If-Unmodified-Since: Wed, 01 Jan 2025 00:00:00 GMT"}) {
    EXPECT_EQ(site.ask("PUT", "/small.txt", std::string(field) + "\r\n", "x").status, 501) << field;
    EXPECT_EQ(site.ask("DELETE", "/small.txt", std::string(field) + "\r\n").status, 501) << field;
  }
  EXPECT_EQ(site.get("/small.txt").body, small);
}

TEST_F(ShareTest, AFileThatIsTooLargeIsRefusedAndLeavesNothing) {
  EXPECT_EQ(site.put("/max", std::string(Site::kPutMaxBytes, 'x')).status, 201);
  RawClient client(*site.http);
  const Answer known = client.ask(
      "PUT /more HTTP/1.1\r\nHost: s\r\nContent-Length: 1000001\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(known.status, 413) << "before a byte of it was sent";
  RawClient chunks(*site.http);
  chunks.send("PUT /more HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\nf4241\r\n" +
              std::string(1'000'001, 'x') + "\r\n0\r\n\r\n");
  ASSERT_TRUE(chunks.wait_answers(1));
  EXPECT_EQ(chunks.answers().statuses(), "413");
  site.http->world.run_for(1s);
  EXPECT_EQ(disk().list(".").value(), (std::vector<std::string>{"d", "max", "small.txt"}));
}

TEST_F(ShareTest, APartIsNotStoredAsTheWhole) {
  EXPECT_EQ(site.ask("PUT", "/small.txt", "Content-Range: bytes 0-0/10\r\n", "x").status, 400);
  EXPECT_EQ(site.get("/small.txt").body, small);
}

// Abuse case 27.
TEST_F(ShareTest, APutThatIsCutOffChangesNothingAndLeavesNothing) {
  const std::size_t before = disk().list(".").value().size();
  for (int i = 0; i < 50; ++i) {
    RawClient client(*site.http);
    client.send("PUT /small.txt HTTP/1.1\r\nHost: s\r\nContent-Length: 500000\r\n\r\n" +
                std::string(1 + site.http->world.rng().below(400000), 'x'));
    site.http->world.run_for(Duration(site.http->world.rng().below(5'000'000)));
    client.leave();
    site.http->world.run_for(100ms);
  }
  EXPECT_EQ(site.get("/small.txt").body, small);
  EXPECT_EQ(disk().list(".").value().size(), before);
  EXPECT_EQ(site.http->body_buffers.in_use(), 0U);
}

TEST_F(ShareTest, ABrokenChunkChangesNothing) {
  RawClient client(*site.http);
  client.send(
      "PUT /small.txt HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n");
  ASSERT_TRUE(client.wait_end());
  EXPECT_EQ(client.answers().statuses(), "400");
  EXPECT_EQ(site.get("/small.txt").body, small);
}

TEST_F(ShareTest, AFailedSyncIsAnErrorAndTheOldFileStays) {
  disk().set_capacity(1);
  EXPECT_EQ(site.put("/small.txt", "new").status, 507);
  disk().set_capacity(sim::SimDisk::kDefaultCapacityBytes);
  disk().faults().add({.call = sim::DiskCall::sync, .nth = 1});
  EXPECT_EQ(site.put("/small.txt", "new").status, 500);
  EXPECT_EQ(site.get("/small.txt").body, small);
  EXPECT_EQ(site.put("/small.txt", "new").status, 503) << "no more changes";
  EXPECT_EQ(site.ask("DELETE", "/small.txt").status, 503);
  EXPECT_EQ(site.get("/small.txt").body, small);
}

TEST_F(ShareTest, DeleteRemovesAFileOnce) {
  EXPECT_EQ(site.get("/small.txt").status, 200);
  EXPECT_EQ(site.ask("DELETE", "/small.txt").status, 204);
  EXPECT_EQ(site.get("/small.txt").status, 404);
  EXPECT_EQ(site.ask("DELETE", "/small.txt").status, 404);
  EXPECT_EQ(site.ask("DELETE", "/d").status, 404) << "folders stay";
}

TEST_F(ShareTest, AFileThatChangesBehindLeatIsSeenAfterAMoment) {
  EXPECT_EQ(site.get("/small.txt").body, small);
  auto file = disk().open("small.txt", io::OpenMode::read_write).value();
  ASSERT_TRUE(file->write_all_at(0, as_bytes("XXXXXXXXXX")));
  site.http->world.run_for(2s);
  EXPECT_EQ(site.get("/small.txt").body, "XXXXXXXXXX");
}

TEST_F(ShareTest, AReaderOfTheOldVersionFinishesUndisturbed) {
  RawClient slow(*site.http, /*reads=*/false);
  slow.send("GET /d/large.tar HTTP/1.1\r\nHost: server\r\n\r\n");
  site.http->world.run_for(1s);
  ASSERT_EQ(site.put("/d/large.tar", std::string(700000, 'n')).status, 200);
  slow.start_reading();
  ASSERT_TRUE(slow.wait_answers(1));
  EXPECT_TRUE(slow.answers().whole[0].body == large);
  EXPECT_EQ(site.get("/d/large.tar").body, std::string(700000, 'n'));
}

}  // namespace
}  // namespace leat::share
