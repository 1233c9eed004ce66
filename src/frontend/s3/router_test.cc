#include "s3/router.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "s3/parts.h"
#include "s3/target.h"

namespace leat::s3 {
namespace {

using http::Operation;

std::string routed(std::string_view request, std::string_view fields = "",
                   const std::string& domain = "") {
  const std::string text = std::string(request) + " HTTP/1.1\r\n" +
                           (fields.find("Host:") == fields.npos ? "Host: server\r\n" : "") +
                           std::string(fields) + "\r\n";
  http1::RequestHead head;
  const auto parsed = http1::RequestParser().parse(text, head);
  if (!parsed || *parsed != text.size()) return "malformed";
  const auto operation = S3Router(domain).route(head);
  if (!operation) return std::string(traits(operation.error().code()).name);
  return *operation ? std::string(name_of(**operation)) : "(none)";
}

TEST(Router, EveryOperationHasItsRequest) {
  struct Case {
    std::string_view request;
    std::string_view operation;
    std::string_view fields = "";
  };
  constexpr std::string_view kCopy = "x-amz-copy-source: b/k\r\n";
  const Case cases[] = {
      {"GET /", "s3_list_buckets"},
      {"GET /?x-id=ListBuckets&max-buckets=2", "s3_list_buckets"},
      {"PUT /photos", "s3_create_bucket"},
      {"PUT /photos/", "s3_create_bucket"},
      {"HEAD /photos", "s3_head_bucket"},
      {"DELETE /photos", "s3_delete_bucket"},
      {"GET /photos?location", "s3_get_bucket_location"},
      {"GET /photos/?location=", "s3_get_bucket_location"},
      {"GET /photos", "s3_list_objects"},
      {"GET /photos/?prefix=&delimiter=&marker=&max-keys=1&encoding-type=url", "s3_list_objects"},
      {"GET /photos?list-type=2&fetch-owner=true&start-after=a&continuation-token=b",
       "s3_list_objects_v2"},
      {"GET /photos?uploads&max-uploads=1", "s3_list_uploads"},
      {"GET /photos?versions&key-marker=a&version-id-marker=b", "s3_list_versions"},
      {"GET /photos?versioning", "s3_get_versioning"},
      {"PUT /photos?versioning", "s3_put_versioning"},
      {"POST /photos?delete", "s3_delete_objects"},
      {"POST /photos/?delete=&x-id=DeleteObjects", "s3_delete_objects"},
      {"GET /photos/a", "s3_get_object"},
      {"GET /photos/a?versionId=null&partNumber=1&response-expires=x", "s3_get_object"},
      {"HEAD /photos/a", "s3_head_object"},
      {"GET /photos/a.tar?member=x/y.jpg", "s3_read_shard"},
      {"HEAD /photos/a.tar?sample=x&fields=jpg,cls&versionId=7", "s3_read_shard"},
      {"GET /photos/a.tar?fields=cls", "s3_read_shard"},
      {"GET /photos/a.tar?members&start=3&max-members=10", "s3_list_members"},
      {"PUT /photos/a", "s3_put_object"},
      {"PUT /photos/a?x-id=PutObject", "s3_put_object",
       "x-amz-meta-any: 1\r\nx-amz-acl: private\r\nx-amz-storage-class: STANDARD\r\n"},
      {"PUT /photos/a", "s3_copy_object", kCopy},
      {"DELETE /photos/a", "s3_delete_object"},
      {"POST /photos/a?uploads", "s3_create_upload"},
      {"PUT /photos/a?partNumber=1&uploadId=x", "s3_upload_part"},
      {"PUT /photos/a?partNumber=1&uploadId=x", "s3_upload_part_copy", kCopy},
      {"POST /photos/a?uploadId=x", "s3_complete_upload"},
      {"DELETE /photos/a?uploadId=x", "s3_abort_upload"},
      {"GET /photos/a?uploadId=x", "s3_list_parts"},
      {"GET /photos/a?tagging", "s3_get_tagging"},
      {"PUT /photos/a?tagging=", "s3_put_tagging"},
      {"DELETE /photos/a?tagging", "s3_delete_tagging"},
      {"GET /photos/a?acl", "s3_get_object_acl"},
      {"PUT /photos/a?acl", "s3_put_object_acl", "x-amz-acl: public-read\r\n"},
      {"GET /photos?acl", "s3_get_bucket_acl"},
      {"PUT /photos/?acl=", "s3_put_bucket_acl", "x-amz-acl: private\r\n"},
      {"GET /photos?policy", "s3_get_bucket_policy"},
      {"PUT /photos?policy", "s3_put_bucket_policy"},
      {"DELETE /photos?policy", "s3_delete_bucket_policy"},
      {"GET /photos?policyStatus", "s3_get_bucket_policy_status"},
      {"GET /photos?cors", "s3_get_cors"},
      {"PUT /photos?cors", "s3_put_cors"},
      {"DELETE /photos?cors", "s3_delete_cors"},
      {"GET /photos?lifecycle", "s3_get_lifecycle"},
      {"PUT /photos?lifecycle=", "s3_put_lifecycle"},
      {"DELETE /photos?lifecycle", "s3_delete_lifecycle"},
      {"GET /photos?publicAccessBlock", "s3_get_public_access_block"},
      {"PUT /photos?publicAccessBlock=", "s3_put_public_access_block"},
      {"DELETE /photos?publicAccessBlock", "s3_delete_public_access_block"},
      {"GET /photos?leat-etag", "s3_get_etag_kind"},
      {"PUT /photos?leat-etag", "s3_put_etag_kind"},
      {"GET /photos?leat-durability", "s3_get_durability"},
      {"PUT /photos?leat-durability", "s3_put_durability"},
      {"GET /photos?leat-undo", "s3_get_undo_window"},
      {"PUT /photos?leat-undo", "s3_put_undo_window"},
      {"GET /photos?tagging", "s3_get_bucket_tagging"},
      {"PUT /photos?tagging=", "s3_put_bucket_tagging"},
      {"DELETE /photos?tagging", "s3_delete_bucket_tagging"},
      {"GET /photos/a?attributes&versionId=7", "s3_get_attributes",
       "x-amz-object-attributes: ETag\r\nx-amz-max-parts: 1\r\n"},
      {"OPTIONS /photos", "s3_preflight"},
      {"OPTIONS /photos/a?anything&X-Amz-Signature=1", "s3_preflight"},
  };
  std::set<std::string_view> seen;
  for (const Case& one : cases) {
    EXPECT_EQ(routed(one.request, one.fields), one.operation) << one.request;
    seen.insert(one.operation);
  }
  for (std::size_t i = 0; i < http::kOperationCount; ++i) {
    const std::string_view name = name_of(static_cast<Operation>(i));
    if (name.starts_with("s3_")) {
      EXPECT_TRUE(seen.contains(name)) << name;
    }
  }
}

TEST(Router, WhatIsNotKnownIsNotImplementedAndFallsThroughToNothing) {
  for (const std::string_view name : {"accelerate",
                                      "analytics",
                                      "encryption",
                                      "intelligent-tiering",
                                      "inventory",
                                      "legal-hold",
                                      "logging",
                                      "metrics",
                                      "notification",
                                      "object-lock",
                                      "ownershipControls",
                                      "replication",
                                      "requestPayment",
                                      "restore",
                                      "retention",
                                      "select",
                                      "torrent",
                                      "website",
                                      "append",
                                      "session",
                                      "renameObject",
                                      "anything"}) {
    for (const std::string_view method : {"GET", "HEAD", "PUT", "POST", "DELETE"}) {
      for (const std::string_view path : {"/photos", "/photos/key"}) {
        const std::string request =
            std::string(method) + " " + std::string(path) + "?" + std::string(name);
        EXPECT_EQ(routed(request), "not_implemented") << request;
        EXPECT_EQ(routed(request + "=1"), "not_implemented") << request;
      }
    }
  }
  for (const std::string_view request : {"POST /photos",
                                         "POST /photos/key",
                                         "GET /photos?delete",
                                         "PUT /photos?uploads",
                                         "GET /photos/k?uploads",
                                         "GET /photos/k?location",
                                         "GET /photos?tagging&versionId=7",
                                         "GET /photos/k?prefix=a",
                                         "GET /photos?partNumber=1",
                                         "PUT /photos/k?versionId=7",
                                         "DELETE /photos?versioning",
                                         "PUT /photos?versions",
                                         "GET /photos/k?versions",
                                         "GET /photos/k?versioning",
                                         "HEAD /photos?versions",
                                         "GET /photos?list-type=1",
                                         "GET /photos/k?uploadId=x&tagging",
                                         "PUT /photos/k?response-expires=x",
                                         "DELETE /photos/k?delete",
                                         "DELETE /photos?acl",
                                         "DELETE /photos/k?acl",
                                         "POST /photos?acl",
                                         "HEAD /photos/k?acl",
                                         "GET /photos/k?policy",
                                         "PUT /photos/k?attributes",
                                         "GET /photos?attributes",
                                         "GET /photos/k?publicAccessBlock",
                                         "GET /photos/k?leat-etag",
                                         "DELETE /photos?leat-etag",
                                         "PUT /photos/k?leat-durability",
                                         "DELETE /photos?leat-undo",
                                         "PUT /photos/k?cors",
                                         "PUT /photos/k?lifecycle",
                                         "DELETE /photos/k?policy",
                                         "PUT /photos?policyStatus",
                                         "HEAD /photos?policy",
                                         "POST /photos?lifecycle",
                                         "GET /photos?policy&cors",
                                         "PUT /photos/k?acl&tagging"}) {
    EXPECT_EQ(routed(request), "not_implemented") << request;
  }
  EXPECT_EQ(routed("PUT /"), "method_not_allowed");
  EXPECT_EQ(routed("GET /photos/k", "x-amz-copy-source: b/k\r\n"), "not_implemented");
}

TEST(Router, FieldsThatWouldChangeTheMeaningAreNotImplemented) {
  for (const std::string_view field :
       {"x-amz-server-side-encryption: AES256", "x-amz-server-side-encryption-customer-key: k",
        "x-amz-object-lock-mode: GOVERNANCE", "x-amz-grant-read: id=1",
        "x-amz-acl: public-read-write", "x-amz-storage-class: GLACIER",
        "x-amz-website-redirect-location: /x", "x-amz-write-offset-bytes: 3",
        "X-AMZ-Anything-New: 1", "x-amz-bucket-object-lock-enabled: true"}) {
    const std::string line = std::string(field) + "\r\n";
    EXPECT_EQ(routed("PUT /photos/k", line), "not_implemented") << field;
    EXPECT_EQ(routed("PUT /photos", line), "not_implemented") << field;
  }
  // A presigned URL may carry the same in its query.
  EXPECT_EQ(routed("PUT /photos/k?x-amz-acl=authenticated-read"), "not_implemented");
  EXPECT_EQ(routed("PUT /photos/k?x-amz-acl=public-read"), "s3_put_object");
  // Where it would be asked for and not made.
  for (const std::string_view request :
       {"PUT /photos/k?partNumber=1&uploadId=x", "POST /photos/k?uploadId=x", "DELETE /photos/k",
        "PUT /photos/k?tagging", "PUT /photos?policy"}) {
    EXPECT_EQ(routed(request, "x-amz-acl: public-read\r\n"), "not_implemented") << request;
  }
  EXPECT_EQ(routed("PUT /photos/k?x-amz-server-side-encryption=AES256"), "not_implemented");
  EXPECT_EQ(routed("PUT /photos/k?x-amz-checksum-crc32=AAAAAA%3D%3D"), "s3_put_object");
}

TEST(Router, WhatIsSaidOfTheSourceOfACopyNeedsACopy) {
  for (const std::string_view field :
       {"x-amz-copy-source-if-match: x", "x-amz-copy-source-if-none-match: x",
        "x-amz-copy-source-if-modified-since: x", "X-Amz-Copy-Source-Range: bytes=0-1"}) {
    const std::string line = std::string(field) + "\r\n";
    EXPECT_EQ(routed("PUT /photos/k", line), "bad_request") << field;
    EXPECT_EQ(routed("PUT /photos/k?partNumber=1&uploadId=x", line), "bad_request") << field;
  }
  EXPECT_EQ(routed("PUT /photos/k?x-amz-copy-source-if-match=x"), "bad_request");
  const std::string range = "x-amz-copy-source: b/k\r\nx-amz-copy-source-range: bytes=0-1\r\n";
  EXPECT_EQ(routed("PUT /photos/k", range), "not_implemented");
  EXPECT_EQ(routed("PUT /photos/k?partNumber=1&uploadId=x", range), "s3_upload_part_copy");
}

TEST(Router, TheOneVersionOfTheApiMayBeNamed) {
  // aws-sdk-cpp does, so pyarrow and DALI do.
  EXPECT_EQ(routed("POST /photos/k?uploads", "x-amz-api-version: 2006-03-01\r\n"),
            "s3_create_upload");
  EXPECT_EQ(routed("POST /photos/k?uploads", "x-amz-api-version: 2027-01-01\r\n"),
            "not_implemented");
}

TEST(Router, TheNativeApiAndTheMetricsAreNotS3s) {
  for (const std::string_view path : {"/_/v1/health", "/_/", "/_", "/metrics"})
    EXPECT_EQ(routed("GET " + std::string(path)), "(none)") << path;
  EXPECT_EQ(routed("OPTIONS *"), "(none)");
  EXPECT_EQ(routed("GET /metrics/a"), "s3_get_object");
  EXPECT_EQ(routed("GET /%zz"), "bad_request");
}

TEST(Router, AHostCanNameTheBucket) {
  constexpr std::string_view kHost = "Host: photos.s3.example:9000\r\n";
  EXPECT_EQ(routed("GET /", kHost, "s3.example"), "s3_list_objects");
  EXPECT_EQ(routed("GET /a/b", kHost, "s3.example"), "s3_get_object");
  EXPECT_EQ(routed("GET /_/v1/health", kHost, "s3.example"), "s3_get_object");
  EXPECT_EQ(routed("GET /metrics", kHost, "s3.example"), "s3_get_object");
  EXPECT_EQ(routed("GET /", kHost, ""), "s3_list_buckets");
  EXPECT_EQ(routed("GET /", "Host: s3.example\r\n", "s3.example"), "s3_list_buckets");
  EXPECT_EQ(bucket_in_host("Photos.S3.Example", "s3.example"), "photos");
  EXPECT_EQ(bucket_in_host("a.b.s3.example", "s3.example"), "a.b");
  EXPECT_EQ(bucket_in_host("photoss3.example", "s3.example"), "");
  EXPECT_EQ(bucket_in_host(".s3.example", "s3.example"), "");
}

// Abuse case 35.
TEST(Target, Abuse35KeysAreTheBytesBehindTheBucket) {
  const auto key = [](std::string_view path) { return target_of(path, "h", "").key; };
  for (const std::string_view name :
       {"a", "a/", "/a", "//", "..", "../x", "a/../b", ".", "./a", "..hidden", "a//b", "a\\b"}) {
    EXPECT_EQ(key("/b/" + std::string(name)), name);
  }
  EXPECT_EQ(target_of("//key", "h", ""), (Target{.bucket = "", .key = "key"}));
  EXPECT_EQ(target_of("/../b/key", "h", ""), (Target{.bucket = "..", .key = "b/key"}));
}

// Abuse case 36.
TEST(Target, Abuse36NamesOfBucketsAreStrict) {
  for (const std::string_view name : {"abc", "a-b", "a.b", "0ab", "1.2.3", "my-bucket.2026"})
    EXPECT_TRUE(is_bucket_name(name)) << name;
  for (const std::string_view name : {"",
                                      "ab",
                                      "Abc",
                                      "a_b",
                                      "-ab",
                                      "ab-",
                                      ".ab",
                                      "ab.",
                                      "a..b",
                                      "a.-b",
                                      "a-.b",
                                      "192.168.5.4",
                                      "xn--abc",
                                      "abc-s3alias",
                                      "abc--ol-s3",
                                      "metrics",
                                      "..",
                                      "a/b",
                                      "a b",
                                      "\xc3\xa4"
                                      "bc"}) {
    EXPECT_FALSE(is_bucket_name(name)) << name;
  }
  EXPECT_TRUE(is_bucket_name(std::string(63, 'a')));
  EXPECT_FALSE(is_bucket_name(std::string(64, 'a')));
}

TEST(Parts, SizesAreWrittenInRunsAndFoundAgain) {
  EXPECT_EQ(encode_parts({5, 5, 5, 7}), "5*3,7");
  EXPECT_EQ(encode_parts({1}), "1");
  EXPECT_EQ(part_count("5*3,7"), 4U);
  for (const auto& [number, offset, length] :
       {std::tuple(1, 0, 5), std::tuple(3, 10, 5), std::tuple(4, 15, 7)}) {
    const PartPlace place = part_place("5*3,7", static_cast<std::uint64_t>(number));
    EXPECT_EQ(place.offset, static_cast<std::uint64_t>(offset));
    EXPECT_EQ(place.length, static_cast<std::uint64_t>(length));
  }
  EXPECT_EQ(part_place("3,4*2", 2).offset, 3U);
}

}  // namespace
}  // namespace leat::s3
