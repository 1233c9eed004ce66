// GetObjectAttributes.
#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

class ObjectAttributesTest : public S3Test {
 protected:
  Reply attributes(const std::string& key, const std::string& names, Fields more = {}) {
    more.push_back({"x-amz-object-attributes", names});
    return ask("GET", "/photos/" + key + "?attributes", more);
  }
};

TEST_F(ObjectAttributesTest, TellsWhatWasAskedForAndNothingElse) {
  ASSERT_EQ(put("a", "hello").status, 200);
  const Reply all = attributes("a", "ETag,Checksum,ObjectParts, StorageClass ,ObjectSize");
  EXPECT_EQ(all.status, 200) << all.body;
  EXPECT_EQ(element(all, "ETag"), "5d41402abc4b2a76b9719d911017c592");
  EXPECT_NE(element(all, "ChecksumCRC64NVME"), "(none)");
  EXPECT_EQ(element(all, "ChecksumType"), "FULL_OBJECT");
  EXPECT_EQ(element(all, "StorageClass"), "STANDARD");
  EXPECT_EQ(element(all, "ObjectSize"), "5");
  EXPECT_EQ(element(all, "PartsCount"), "(none)") << "it has no parts";
  EXPECT_NE(all.field("last-modified"), "(none)");
  const Reply one = attributes("a", "ObjectSize");
  EXPECT_EQ(element(one, "ObjectSize"), "5");
  EXPECT_EQ(element(one, "ETag"), "(none)");
}

TEST_F(ObjectAttributesTest, PartsComeInPages) {
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  std::vector<std::pair<int, std::string>> parts;
  for (int number = 1; number <= 3; ++number) {
    const std::string target = fmt::format("/photos/m?uploadId={}&partNumber={}", upload, number);
    const std::string body(number < 3 ? 5 * kMiB : 7, 'x');
    parts.emplace_back(number, ask("PUT", target, {}, body).field("etag"));
  }
  ASSERT_EQ(ask("POST", "/photos/m?uploadId=" + upload, {}, listing(parts)).status, 200);
  const Reply first = attributes("m", "ObjectParts", {{"x-amz-max-parts", "2"}});
  EXPECT_EQ(element(first, "PartsCount"), "3");
  EXPECT_EQ(elements(first, "PartNumber"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(elements(first, "Size"), (std::vector<std::string>{"5242880", "5242880"}));
  EXPECT_EQ(element(first, "IsTruncated"), "true");
  EXPECT_EQ(element(first, "NextPartNumberMarker"), "2");
  const Reply rest = attributes("m", "ObjectParts", {{"x-amz-part-number-marker", "2"}});
  EXPECT_EQ(elements(rest, "Size"), (std::vector<std::string>{"7"}));
  EXPECT_EQ(element(rest, "IsTruncated"), "false");
  EXPECT_TRUE(elements(attributes("m", "ObjectParts", {{"x-amz-part-number-marker", "99"}}), "Size")
                  .empty());
}

TEST_F(ObjectAttributesTest, WhatMakesNoSenseIsRefused) {
  ASSERT_EQ(put("a", "hello").status, 200);
  EXPECT_EQ(code(ask("GET", "/photos/a?attributes")), "400 InvalidRequest");
  EXPECT_EQ(code(attributes("a", "")), "400 InvalidRequest");
  EXPECT_EQ(code(attributes("a", "Size")), "400 InvalidArgument");
  EXPECT_EQ(code(attributes("a", "ETag", {{"x-amz-max-parts", "x"}})), "400 InvalidArgument");
  EXPECT_EQ(code(attributes("none", "ETag")), "404 NoSuchKey");
}

TEST_F(ObjectAttributesTest, TakesTheRightToRead) {
  ASSERT_EQ(put("a", "hello").status, 200);
  const auto lister = key_with({{.bucket = "photos", .rights = {keys::Right::list}}});
  const Fields fields = {{"x-amz-object-attributes", "ETag"}};
  EXPECT_EQ(code(ask_as(lister, "GET", "/photos/a?attributes", fields)), "403 AccessDenied");
}

}  // namespace
}  // namespace leat::s3
