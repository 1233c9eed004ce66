#include "s3client/answers.h"

#include <gtest/gtest.h>

namespace leat::s3client {
namespace {

TEST(Answers, AListingIsDecodedAndSaysWhereToGoOn) {
  const auto page = parse_objects(
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><Name>b</Name>"
      "<IsTruncated>true</IsTruncated><NextContinuationToken>t1</NextContinuationToken>"
      "<Contents><Key>a%20b%2Fc</Key><LastModified>2026-11-16T05:00:00.250Z</LastModified>"
      "<ETag>&quot;abc&quot;</ETag><Size>42</Size></Contents>"
      "<CommonPrefixes><Prefix>d%2F</Prefix></CommonPrefixes></ListBucketResult>");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].key, "a b/c");
  EXPECT_EQ(page->objects[0].size_bytes, 42U);
  EXPECT_EQ(page->objects[0].etag, "abc");
  EXPECT_EQ(iso_time(page->objects[0].modified), "2026-11-16T05:00:00Z");
  EXPECT_EQ(page->groups, std::vector<std::string>{"d/"});
  EXPECT_EQ(page->continuation, "t1");
}

TEST(Answers, ASpaceMayComeAsAPlusAndAPlusAsItsCode) {
  const auto page = parse_objects(
      "<ListBucketResult><Contents><Key>a+b%20c%2Bd</Key></Contents>"
      "<CommonPrefixes><Prefix>e+f%2F</Prefix></CommonPrefixes></ListBucketResult>");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->objects.at(0).key, "a b c+d");
  EXPECT_EQ(page->groups, std::vector<std::string>{"e f/"});
}

TEST(Answers, AListingThatIsCutWithoutATokenIsAnError) {
  EXPECT_FALSE(
      parse_objects("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"));
}

TEST(Answers, VersionsAndMarkersComeInOneListAndSayWhereToGoOn) {
  const auto page = parse_versions(
      "<ListVersionsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a%2F</NextKeyMarker>"
      "<NextVersionIdMarker>v1</NextVersionIdMarker>"
      "<Version><Key>a%2F</Key><VersionId>v2</VersionId></Version>"
      "<DeleteMarker><Key>b</Key><VersionId>null</VersionId></DeleteMarker></ListVersionsResult>");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->versions.size(), 2U);
  EXPECT_EQ(page->versions[0].key, "a/");
  EXPECT_EQ(page->versions[1].id, "null");
  ASSERT_TRUE(page->next);
  EXPECT_EQ(page->next->key, "a/");
  EXPECT_EQ(page->next->id, "v1");
}

TEST(Answers, UploadsThatAreUnderWay) {
  const auto page = parse_uploads(
      "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>"
      "<Upload><Key>a%0D</Key><UploadId>7</UploadId></Upload></ListMultipartUploadsResult>");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->uploads.size(), 1U);
  EXPECT_EQ(page->uploads[0].key, "a\r");
  EXPECT_EQ(page->uploads[0].id, "7");
  EXPECT_FALSE(page->next);
  EXPECT_FALSE(
      parse_uploads("<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
                    "</ListMultipartUploadsResult>"));
}

TEST(Answers, PartsComeWithTheirChecksums) {
  const auto page = parse_parts(
      "<ListPartsResult><IsTruncated>true</IsTruncated>"
      "<NextPartNumberMarker>7</NextPartNumberMarker><Part><PartNumber>7</PartNumber>"
      "<ETag>\"e\"</ETag><Size>5</Size><ChecksumCRC64NVME>AAA=</ChecksumCRC64NVME></Part>"
      "</ListPartsResult>");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->parts.size(), 1U);
  EXPECT_EQ(page->parts[0].number, 7U);
  EXPECT_EQ(page->parts[0].crc64nvme, "AAA=");
  EXPECT_EQ(page->next_marker, 7U);
}

TEST(Answers, AnErrorInAGoodAnswerIsAnError) {
  const auto refused =
      parse_fields("<Error><Code>InternalError</Code><Message>late</Message></Error>");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail().find("late"), std::string_view::npos);
}

TEST(Answers, WhatIsNoS3AnswerIsRefused) {
  for (const char* bad : {"", "<html></html>", "{}", "<ListBucketResult>"}) {
    EXPECT_FALSE(parse_objects(bad)) << bad;
    EXPECT_FALSE(parse_buckets(bad)) << bad;
    EXPECT_FALSE(parse_upload_id(bad)) << bad;
  }
}

TEST(Answers, TimesWithAndWithoutFractions) {
  EXPECT_EQ(iso_time(*parse_iso_time("2026-02-28T23:59:59Z")), "2026-02-28T23:59:59Z");
  const auto fraction = *parse_iso_time("2026-02-28T23:59:59.750Z");
  EXPECT_EQ((fraction - *parse_iso_time("2026-02-28T23:59:59Z")), std::chrono::milliseconds(750));
  for (const char* bad : {"", "2026-02-30T00:00:00Z", "yesterday", "2026-02-28 23:59:59Z"}) {
    EXPECT_FALSE(parse_iso_time(bad)) << bad;
  }
}

}  // namespace
}  // namespace leat::s3client
