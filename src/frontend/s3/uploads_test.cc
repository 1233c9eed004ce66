// Uploads in parts.
#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

// Uploads in parts.

TEST_F(S3Test, AnUploadInPartsBecomesOneObject) {
  const std::string a(5 * kMiB, 'A');
  const std::string upload =
      element(ask("POST", "/photos/m?uploads",
                  {{"Content-Type", "a/b"}, {"x-amz-checksum-algorithm", "CRC32"}}),
              "UploadId");
  const auto target = [&](int number) {
    return fmt::format("/photos/m?partNumber={}&uploadId={}", number, upload);
  };
  const Reply last = ask("PUT", target(7), {}, "tail");
  ASSERT_EQ(last.status, 200) << last.body;
  const Reply first = ask("PUT", target(2), {}, a);
  EXPECT_EQ(first.field("x-amz-checksum-crc32"), "JRTCyQ==");
  ASSERT_EQ(ask("PUT", target(9), {}, "dropped").status, 200);
  const std::string complete = "/photos/m?uploadId=" + upload;
  const std::string e2 = first.field("etag");
  const std::string e7 = last.field("etag");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({{7, e7}, {2, e2}}))), "400 InvalidPartOrder");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({{2, e7}}))), "400 InvalidPart");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({{3, e2}}))), "400 InvalidPart");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({}))), "400 MalformedXML");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({{2, e2}, {7, e7}, {9, e7}}))),
            "400 InvalidPart");
  const Reply parts = ask("GET", "/photos/m?uploadId=" + upload + "&max-parts=2");
  EXPECT_EQ(elements(parts, "PartNumber"), (std::vector<std::string>{"2", "7"}));
  EXPECT_EQ(element(parts, "IsTruncated"), "true");
  EXPECT_EQ(elements(ask("GET", "/photos?uploads"), "UploadId"), std::vector<std::string>{upload});
  EXPECT_EQ(objects(), 0U);

  const Reply done = ask("POST", complete, {}, listing({{2, e2}, {7, e7}}));
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(element(done, "ChecksumType"), "COMPOSITE");
  const Reply again = ask("POST", complete, {}, listing({{2, e2}, {7, e7}}));
  EXPECT_EQ(again.body, done.body) << "a client that asks again gets the same answer";
  const Reply got = ask("GET", "/photos/m");
  EXPECT_EQ(got.body, a + "tail");
  EXPECT_EQ(got.field("content-type"), "a/b");
  EXPECT_TRUE(got.field("etag").ends_with("-2\"")) << got.field("etag");
  EXPECT_EQ("&quot;" + got.field("etag").substr(1, got.field("etag").size() - 2) + "&quot;",
            element(done, "ETag"));
  const Reply part = ask("GET", "/photos/m?partNumber=2");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "tail");
  EXPECT_EQ(part.field("x-amz-mp-parts-count"), "2");
  EXPECT_EQ(ask("GET", "/photos?uploads").body.find("<Upload>"), std::string::npos);
}

struct WholeChecksum {
  std::string algorithm;
  std::string type;
  std::string expected;
};

// The values are those of an independent program.
TEST_F(S3Test, TheChecksumOfTheWholeIsMadeOfThoseOfItsParts) {
  const WholeChecksum cases[] = {
      {"", "", "i+6LR0y3eFo="},
      {"CRC64NVME", "FULL_OBJECT", "i+6LR0y3eFo="},
      {"CRC32", "", "Z+ry2Q==-3"},
      {"CRC32", "FULL_OBJECT", "WgDhBQ=="},
      {"CRC32C", "COMPOSITE", "g9DPqQ==-3"},
      {"CRC32C", "FULL_OBJECT", "xU+Krw=="},
      {"SHA256", "", "uWBwpe1dxI4Vw8Gf0X9ynOdw/SS6VBzfWm9giiv1sf4=-3"},
  };
  for (const WholeChecksum& one : cases) {
    Fields fields;
    if (!one.algorithm.empty()) fields.push_back({"x-amz-checksum-algorithm", one.algorithm});
    if (!one.type.empty()) fields.push_back({"x-amz-checksum-type", one.type});
    const std::string upload = element(ask("POST", "/photos/abc?uploads", fields), "UploadId");
    std::vector<std::pair<int, std::string>> parts;
    for (int number = 1; number <= 3; ++number) {
      const std::string data(5 * kMiB, static_cast<char>('A' + number - 1));
      const std::string target =
          fmt::format("/photos/abc?partNumber={}&uploadId={}", number, upload);
      parts.emplace_back(number, ask("PUT", target, {}, data).field("etag"));
    }
    const std::string name = one.algorithm.empty() ? "CRC64NVME" : one.algorithm;
    std::string header = "x-amz-checksum-" + name;
    std::ranges::transform(header, header.begin(), http1::to_lower);
    const std::string complete = "/photos/abc?uploadId=" + upload;
    const Reply wrong = ask("POST", complete, {{header, "AAAAAA=="}}, listing(parts));
    EXPECT_EQ(code(wrong), "400 BadDigest") << one.algorithm;
    const Reply done = ask("POST", complete, {{header, one.expected}}, listing(parts));
    ASSERT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(element(done, "Checksum" + name), one.expected) << one.algorithm << one.type;
    EXPECT_EQ(element(done, "ETag"), "&quot;b2add96cc9702bbf4efb0ccdfc6b7747-3&quot;");
    const Reply head = ask("HEAD", "/photos/abc", {{"x-amz-checksum-mode", "ENABLED"}});
    EXPECT_EQ(head.field(header), one.expected);
  }
  for (const auto& [algorithm, type] :
       {std::pair("CRC64NVME", "COMPOSITE"), std::pair("SHA1", "FULL_OBJECT"),
        std::pair("SHA256", "FULL_OBJECT"), std::pair("CRC32", "OTHER"), std::pair("MD4", "")}) {
    Fields fields = {{"x-amz-checksum-algorithm", algorithm}};
    if (*type != '\0') fields.push_back({"x-amz-checksum-type", type});
    EXPECT_EQ(code(ask("POST", "/photos/abc?uploads", fields)), "400 InvalidRequest") << algorithm;
  }
}

TEST_F(S3Test, APartWithAnotherChecksumThanItsUploadIsRefused) {
  const std::string upload =
      element(ask("POST", "/photos/m?uploads", {{"x-amz-checksum-algorithm", "SHA1"}}), "UploadId");
  const std::string target = "/photos/m?partNumber=1&uploadId=" + upload;
  EXPECT_EQ(code(ask("PUT", target, {{"x-amz-checksum-crc32", "NhCmhg=="}}, "hello")),
            "400 InvalidRequest");
  EXPECT_EQ(ask("PUT", target, {}, "hello").field("x-amz-checksum-sha1"),
            "qvTGHdzF6KLavt4PO0gs2a6pQ00=");
}

TEST_F(S3Test, TheLargestDocumentsAreTaken) {
  std::string thousand = "<Delete>";
  for (int i = 0; i < 1000; ++i)
    thousand += fmt::format("<Object><Key>{:01024}</Key></Object>", i);
  const Reply deleted = ask("POST", "/photos?delete", {}, thousand + "</Delete>");
  EXPECT_EQ(deleted.status, 200) << deleted.body.substr(0, 300);
  EXPECT_EQ(elements(deleted, "Key").size(), 1000U);
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  std::string all = "<CompleteMultipartUpload>";
  for (int i = 1; i <= 10'000; ++i) {
    all += fmt::format(
        "<Part><ETag>&quot;{:032}&quot;</ETag><ChecksumSHA256>{:043}=</ChecksumSHA256>"
        "<PartNumber>{}</PartNumber></Part>",
        i, i, i);
  }
  EXPECT_EQ(
      code(ask("POST", "/photos/m?uploadId=" + upload, {}, all + "</CompleteMultipartUpload>")),
      "400 InvalidPart")
      << "read to its end: there are no such parts";
}

TEST_F(S3Test, SmallPartsAreRefusedAndAbortedUploadsLeaveNothing) {
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const auto target = [&](int number) {
    return fmt::format("/photos/m?partNumber={}&uploadId={}", number, upload);
  };
  const std::string e1 = ask("PUT", target(1), {}, "x").field("etag");
  const std::string e2 = ask("PUT", target(2), {}, "y").field("etag");
  const std::string whole = "/photos/m?uploadId=" + upload;
  EXPECT_EQ(code(ask("POST", whole, {}, listing({{1, e1}, {2, e2}}))), "400 EntityTooSmall");
  EXPECT_EQ(code(ask("PUT", target(0), {}, "x")), "400 InvalidArgument");
  EXPECT_EQ(code(ask("PUT", target(10001), {}, "x")), "400 InvalidArgument");
  EXPECT_EQ(ask("DELETE", whole).status, 204);
  EXPECT_EQ(code(ask("DELETE", whole)), "404 NoSuchUpload");
  EXPECT_EQ(code(ask("PUT", target(1), {}, "x")), "404 NoSuchUpload");
  EXPECT_EQ(code(ask("POST", whole, {}, listing({{1, e1}}))), "404 NoSuchUpload");
  EXPECT_EQ(code(ask("GET", "/photos/m?uploadId=nonsense")), "404 NoSuchUpload");
  EXPECT_EQ(objects(), 0U);
}

TEST_F(S3Test, PartsCanBeCopied) {
  ASSERT_EQ(put("source", "0123456789").status, 200);
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const std::string target = "/photos/m?partNumber=1&uploadId=" + upload;
  const auto copy = [&](const std::string& range) {
    return ask("PUT", target,
               {{"x-amz-copy-source", "photos/source"}, {"x-amz-copy-source-range", range}});
  };
  EXPECT_EQ(code(copy("bytes=2-")), "400 InvalidArgument");
  EXPECT_EQ(code(copy("2-3")), "400 InvalidArgument");
  EXPECT_EQ(code(copy("bytes=5-10")), "416 InvalidRange");
  const Reply copied = copy("bytes=2-5");
  ASSERT_EQ(copied.status, 200) << copied.body;
  const std::string etag = element(copied, "ETag");
  ASSERT_EQ(ask("POST", "/photos/m?uploadId=" + upload, {}, listing({{1, etag}})).status, 200);
  EXPECT_EQ(ask("GET", "/photos/m").body, "2345");
}

}  // namespace
}  // namespace leat::s3
