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

TEST_F(S3Test, ACompletionHasConditions) {
  const auto begin = [&] { return element(ask("POST", "/photos/m?uploads"), "UploadId"); };
  const auto complete = [&](const std::string& upload, const Fields& fields) {
    const std::string target = "/photos/m?uploadId=" + upload;
    const std::string etag = ask("PUT", target + "&partNumber=1", {}, upload).field("etag");
    return code(ask("POST", target, fields, listing({{1, etag}})));
  };
  const std::string first = begin();
  EXPECT_EQ(complete(first, {{"If-Match", "\"x\""}}), "404 NoSuchKey");
  EXPECT_EQ(complete(first, {{"If-None-Match", "*"}}), "200 (none)");
  const std::string etag = ask("HEAD", "/photos/m").field("etag");
  const std::string second = begin();
  EXPECT_EQ(complete(second, {{"If-None-Match", "*"}}), "412 PreconditionFailed");
  EXPECT_EQ(complete(second, {{"If-None-Match", etag}}), "501 NotImplemented");
  EXPECT_EQ(complete(second, {{"If-Match", "\"x\""}}), "412 PreconditionFailed");
  EXPECT_EQ(ask("GET", "/photos/m").body, first) << "and the upload can still be completed";
  EXPECT_EQ(complete(second, {{"If-Match", etag}}), "200 (none)");
  EXPECT_EQ(ask("GET", "/photos/m").body, second);
}

TEST_F(S3Test, ChecksumsOfUnknownAlgorithmsAreRefusedEverywhere) {
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const std::string target = "/photos/m?uploadId=" + upload;
  const std::string etag = ask("PUT", target + "&partNumber=1", {}, "x").field("etag");
  for (const std::string name : {"xxhash64", "sha512", "md5", "none"}) {
    const Fields fields = {{"x-amz-checksum-" + name, "AAAA"}};
    EXPECT_EQ(code(ask("POST", target, fields, listing({{1, etag}}))), "501 NotImplemented");
    EXPECT_EQ(code(ask("PUT", target + "&partNumber=2", fields, "x")), "501 NotImplemented");
    EXPECT_EQ(code(put("k", "x", fields)), "501 NotImplemented");
  }
  EXPECT_EQ(objects(), 0U);
}

TEST_F(S3Test, AnEmptyLastPartIsReadWithoutARange) {
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const std::string target = "/photos/m?uploadId=" + upload;
  const Reply first = ask("PUT", target + "&partNumber=1", {}, std::string(5 * kMiB, 'A'));
  const Reply last = ask("PUT", target + "&partNumber=2");
  const Reply none = ask("GET", target + "&max-parts=0");
  EXPECT_EQ(element(none, "IsTruncated"), "false") << "who asks for none is not sent on";
  EXPECT_TRUE(elements(none, "PartNumber").empty());
  const std::string named = listing({{1, first.field("etag")}, {2, last.field("etag")}});
  ASSERT_EQ(ask("POST", target, {}, named).status, 200);
  for (const std::string method : {"GET", "HEAD"}) {
    const Reply part = ask(method, "/photos/m?partNumber=2");
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.body, "");
    EXPECT_EQ(part.field("content-length"), "0");
    EXPECT_EQ(part.field("content-range"), "(none)");
    EXPECT_EQ(part.field("x-amz-mp-parts-count"), "2");
  }
}

TEST_F(S3Test, ThePartsOfAnObjectKeepTheirChecksums) {
  const Fields enabled = {{"x-amz-checksum-mode", "ENABLED"}};
  for (const std::string word : {"CRC32", "SHA256", "CRC64NVME"}) {
    const auto algorithm = *hash::algorithm_from_word(word);
    const std::string header(hash::header_of(algorithm));
    const std::string upload =
        element(ask("POST", "/photos/m?uploads", {{"x-amz-checksum-algorithm", word}}), "UploadId");
    const std::string target = "/photos/m?uploadId=" + upload + "&partNumber=";
    const Reply first = ask("PUT", target + "3", {}, std::string(5 * kMiB, 'A'));
    const Reply last = ask("PUT", target + "4", {}, "tail");
    const std::string named = listing({{3, first.field("etag")}, {4, last.field("etag")}});
    ASSERT_EQ(ask("POST", "/photos/m?uploadId=" + upload, {}, named).status, 200);
    EXPECT_EQ(ask("HEAD", "/photos/m?partNumber=1", enabled).field(header), first.field(header));
    const Reply part = ask("GET", "/photos/m?partNumber=2", enabled);
    EXPECT_EQ(part.body, "tail");
    EXPECT_EQ(part.field(header), last.field(header));
    EXPECT_EQ(ask("GET", "/photos/m?partNumber=2").field(header), "(none)") << "nobody asked";
    const Reply told =
        ask("GET", "/photos/m?attributes", {{"x-amz-object-attributes", "ObjectParts"}});
    EXPECT_EQ(elements(told, "Checksum" + word),
              (std::vector<std::string>{first.field(header), last.field(header)}));
  }
}

TEST_F(S3Test, AnObjectInOnePieceIsItsFirstPart) {
  const std::string sum = put("k", "hello").field("x-amz-checksum-crc64nvme");
  const Reply part = ask("GET", "/photos/k?partNumber=1", {{"x-amz-checksum-mode", "ENABLED"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.field("x-amz-checksum-crc64nvme"), sum);
}

TEST_F(S3Test, ACopyOfAnObjectInPartsHasNoneOfTheirChecksums) {
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const Reply part = ask("PUT", "/photos/m?partNumber=1&uploadId=" + upload, {}, "all");
  ASSERT_EQ(
      ask("POST", "/photos/m?uploadId=" + upload, {}, listing({{1, part.field("etag")}})).status,
      200);
  ASSERT_EQ(put("copy", "", {{"x-amz-copy-source", "/photos/m"}}).status, 200);
  const auto found = rig_.find({rig_.store().find_bucket("photos")->id, "copy"});
  for (const record::Attribute& one : found->version.attributes)
    EXPECT_FALSE(one.name.starts_with("leat-")) << one.name;
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

// All pages of a listing of uploads, one item a page.
TEST_F(S3Test, UploadsAreListedPageByPageWithGroupsInTheirPlace) {
  std::vector<std::string> ids;
  for (const std::string key : {"b", "a/1", "a/2", "b", "c/x/1", "d%FF"})
    ids.push_back(element(ask("POST", "/photos/" + key + "?uploads"), "UploadId"));
  const auto seen = [this](const std::string& more) {
    std::string names;
    std::string marker;
    for (int pages = 0; pages < 20; ++pages) {
      const Reply page =
          ask("GET", "/photos?uploads&encoding-type=url&max-uploads=1" + more + marker);
      for (const std::string& key : elements(page, "Key"))
        names += key + ' ';
      for (const std::string& group : elements(page, "Prefix"))
        if (!group.empty() && more.find("prefix=" + group) == more.npos) names += group + ' ';
      if (element(page, "IsTruncated") != "true") return names;
      marker = "&key-marker=" + element(page, "NextKeyMarker");
      const std::string id = element(page, "NextUploadIdMarker");
      if (!id.empty() && id != "(none)") marker += "&upload-id-marker=" + id;
    }
    return names + "and no end";
  };
  EXPECT_EQ(seen(""), "a/1 a/2 b b c/x/1 d%FF ");
  EXPECT_EQ(seen("&delimiter=/"), "a/ b b c/ d%FF ");
  EXPECT_EQ(seen("&prefix=a/"), "a/1 a/2 ");
  EXPECT_EQ(seen("&prefix=c/&delimiter=/"), "c/x/ ");
  EXPECT_EQ(seen("&prefix=none"), "");
  const Reply all = ask("GET", "/photos?uploads");
  EXPECT_EQ(elements(all, "Key").size(), 6U);
  EXPECT_EQ(element(all, "IsTruncated"), "false");
  // Of one key the higher numbers come behind.
  const std::string low = std::min(ids[0], ids[3]);
  const Reply behind = ask("GET", "/photos?uploads&key-marker=b&upload-id-marker=" + low);
  EXPECT_EQ(elements(behind, "UploadId").front(), std::max(ids[0], ids[3]));
  EXPECT_EQ(elements(ask("GET", "/photos?uploads&key-marker=b"), "Key").size(), 2U);
  EXPECT_EQ(code(ask("GET", "/photos?uploads&key-marker=b&upload-id-marker=what")),
            "400 InvalidArgument");
  EXPECT_EQ(elements(ask("GET", "/photos?uploads&max-uploads=0"), "Key").size(), 0U);
}

}  // namespace
}  // namespace leat::s3
