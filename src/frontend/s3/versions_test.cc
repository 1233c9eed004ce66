// Buckets that keep versions.
#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

class S3VersionsTest : public S3Test {
 protected:
  S3VersionsTest() { set_versioning("Enabled"); }

  void set_versioning(std::string_view status) {
    const Reply answer = ask("PUT", "/photos?versioning", {}, configuration(status));
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
  static std::string configuration(std::string_view status) {
    return fmt::format("<VersioningConfiguration><Status>{}</Status></VersioningConfiguration>",
                       status);
  }
  std::string put(const std::string& key, std::string_view body) {
    const Reply answer = ask("PUT", "/photos/" + key, {}, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.field("x-amz-version-id");
  }
  std::string of(const std::string& key, const std::string& version) {
    return "/photos/" + key + "?versionId=" + version;
  }
  // All versions, in order, as "key:body" with '*' for the latest and X for markers.
  std::string versions(const std::string& query = "") {
    const Reply page = ask("GET", "/photos?versions" + query);
    EXPECT_EQ(page.status, 200) << page.body;
    std::string line;
    const std::regex item(
        "<(Version|DeleteMarker)><Key>([^<]*)</Key><VersionId>([^<]*)</VersionId>"
        "<IsLatest>([a-z]*)</IsLatest>");
    for (auto at = std::sregex_iterator(page.body.begin(), page.body.end(), item);
         at != std::sregex_iterator(); ++at) {
      line += line.empty() ? "" : " ";
      line += (*at)[2].str() + ((*at)[4] == "true" ? "*" : ":");
      line += (*at)[1] == "DeleteMarker" ? "X" : ask("GET", of((*at)[2], (*at)[3])).body;
    }
    return line;
  }
};

TEST_F(S3Test, ABucketSaysWhetherItKeepsVersions) {
  EXPECT_EQ(element(ask("GET", "/photos?versioning"), "Status"), "(none)");
  EXPECT_EQ(ask("PUT", "/photos/k", {}, "x").field("x-amz-version-id"), "(none)");
  for (const std::string_view status : {"Enabled", "Suspended", "Enabled"}) {
    const std::string text = fmt::format(
        "<VersioningConfiguration><Status>{}</Status></VersioningConfiguration>", status);
    ASSERT_EQ(ask("PUT", "/photos?versioning", {}, text).status, 200);
    EXPECT_EQ(element(ask("GET", "/photos?versioning"), "Status"), status);
  }
  for (const std::string_view text :
       {"", "<VersioningConfiguration/>", "<Other/>",
        "<VersioningConfiguration><Status>Off</Status></VersioningConfiguration>",
        "<VersioningConfiguration><Status>Enabled</Status><Other/></VersioningConfiguration>"}) {
    EXPECT_EQ(code(ask("PUT", "/photos?versioning", {}, text)), "400 MalformedXML") << text;
  }
  EXPECT_EQ(code(ask("PUT", "/photos?versioning", {},
                     "<VersioningConfiguration><Status>Enabled</Status>"
                     "<MfaDelete>Enabled</MfaDelete></VersioningConfiguration>")),
            "501 NotImplemented");
}

TEST_F(S3Test, OnlyWhoAdministersABucketMayChangeItsVersioning) {
  using keys::Right;
  const auto writer = key_with({{.bucket = "photos", .rights = {Right::read, Right::write}}});
  const std::string text =
      "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos?versioning", {}, text)), "403 AccessDenied");
  EXPECT_EQ(code(ask_as(writer, "GET", "/photos?versions")), "403 AccessDenied");
  EXPECT_EQ(ask_as(writer, "GET", "/photos?versioning").status, 200);
}

TEST_F(S3VersionsTest, EveryVersionIsReadByItsName) {
  const std::string first = put("k", "one");
  const std::string second = put("k", "two");
  EXPECT_NE(first, second);
  const Reply now = ask("GET", "/photos/k");
  EXPECT_EQ(now.body, "two");
  EXPECT_EQ(now.field("x-amz-version-id"), second);
  EXPECT_EQ(ask("GET", of("k", first)).body, "one");
  EXPECT_EQ(ask("HEAD", of("k", first)).field("content-length"), "3");
  EXPECT_EQ(ask("GET", of("k", first), {{"Range", "bytes=1-"}}).body, "ne");
  EXPECT_EQ(code(ask("GET", of("other", first))), "404 NoSuchVersion");
  EXPECT_EQ(code(ask("GET", of("k", std::string(32, '0')))), "404 NoSuchVersion");
  EXPECT_EQ(code(ask("GET", of("k", "null"))), "404 NoSuchVersion");
  for (const char* name : {"", "x", "null0", "%00"})
    EXPECT_EQ(code(ask("GET", of("k", name))), "400 InvalidArgument") << name;
}

TEST_F(S3VersionsTest, ADeletionLeavesAMarker) {
  const std::string first = put("k", "one");
  const Reply deleted = ask("DELETE", "/photos/k");
  EXPECT_EQ(deleted.status, 204);
  EXPECT_EQ(deleted.field("x-amz-delete-marker"), "true");
  const std::string marker = deleted.field("x-amz-version-id");
  const Reply gone = ask("GET", "/photos/k");
  EXPECT_EQ(code(gone), "404 NoSuchKey");
  EXPECT_EQ(gone.field("x-amz-delete-marker"), "true");
  EXPECT_EQ(gone.field("x-amz-version-id"), marker);
  const Reply asked = ask("GET", of("k", marker));
  EXPECT_EQ(code(asked), "405 MethodNotAllowed");
  EXPECT_EQ(asked.field("x-amz-delete-marker"), "true");
  EXPECT_EQ(asked.field("allow"), "DELETE");
  EXPECT_EQ(ask("HEAD", of("k", marker)).status, 405);
  EXPECT_EQ(ask("GET", of("k", first)).body, "one");
  EXPECT_EQ(versions(), "k*X k:one");
  EXPECT_EQ(code(ask("DELETE", "/photos")), "409 BucketNotEmpty");

  const Reply undone = ask("DELETE", of("k", marker));
  EXPECT_EQ(undone.status, 204);
  EXPECT_EQ(undone.field("x-amz-delete-marker"), "true");
  EXPECT_EQ(ask("GET", "/photos/k").body, "one");
  EXPECT_EQ(ask("DELETE", of("k", first)).field("x-amz-delete-marker"), "(none)");
  EXPECT_EQ(ask("DELETE", of("k", first)).status, 204) << "what is not there is deleted";
  EXPECT_EQ(versions(), "");
  EXPECT_EQ(ask("DELETE", "/photos").status, 204);
}

TEST_F(S3VersionsTest, ADeletionByNameHoldsItsCondition) {
  const std::string first = put("k", "one");
  put("k", "two");
  EXPECT_EQ(code(ask("DELETE", of("k", first), {{"If-Match", "\"other\""}})),
            "412 PreconditionFailed");
  const std::string etag = ask("HEAD", of("k", first)).field("etag");
  EXPECT_EQ(ask("DELETE", of("k", first), {{"If-Match", etag}}).status, 204);
  EXPECT_EQ(versions(), "k*two");
}

TEST_F(S3VersionsTest, ManyAreDeletedAtOnce) {
  const std::string first = put("k", "one");
  put("k", "two");
  put("l", "three");
  const Reply answer =
      ask("POST", "/photos?delete", {},
          fmt::format("<Delete><Object><Key>k</Key><VersionId>{}</VersionId></Object>"
                      "<Object><Key>l</Key></Object><Object><Key>m</Key></Object></Delete>",
                      first));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(element(answer, "VersionId"), first);
  EXPECT_EQ(elements(answer, "DeleteMarker").size(), 2U);
  EXPECT_EQ(versions(), "k*two l*X l:three m*X");
  EXPECT_EQ(code(ask("POST", "/photos?delete", {},
                     "<Delete><Object><Key>k</Key><VersionId>7</VersionId></Object></Delete>")),
            "400 InvalidArgument");
}

TEST_F(S3VersionsTest, AnOldVersionIsCopiedOntoItsObject) {
  const std::string first = put("k", "one");
  const std::string second = put("k", "two");
  const Reply copied =
      ask("PUT", "/photos/k", {{"x-amz-copy-source", "photos/k?versionId=" + first}});
  EXPECT_EQ(copied.status, 200) << copied.body;
  EXPECT_EQ(copied.field("x-amz-copy-source-version-id"), first);
  EXPECT_EQ(ask("GET", "/photos/k").field("x-amz-version-id"), copied.field("x-amz-version-id"));
  EXPECT_EQ(versions(), "k*one k:two k:one");
  const std::string marker = ask("DELETE", "/photos/k").field("x-amz-version-id");
  EXPECT_EQ(code(ask("PUT", "/photos/c", {{"x-amz-copy-source", "photos/k?versionId=" + marker}})),
            "400 InvalidRequest");
  EXPECT_EQ(code(ask("PUT", "/photos/c", {{"x-amz-copy-source", "photos/k"}})), "404 NoSuchKey");
  EXPECT_EQ(ask("PUT", "/photos/c", {{"x-amz-copy-source", "photos/k?versionId=" + second}}).status,
            200);
}

TEST_F(S3VersionsTest, TagsBelongToAVersion) {
  const std::string first = put("k", "one");
  put("k", "two");
  const std::string tags =
      "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
  const std::string old = "/photos/k?tagging&versionId=" + first;
  EXPECT_EQ(ask("PUT", old, {}, tags).status, 200);
  EXPECT_EQ(element(ask("GET", old), "Value"), "b");
  EXPECT_EQ(element(ask("GET", "/photos/k?tagging"), "Value"), "(none)");
  EXPECT_EQ(versions(), "k*two k:one");
  EXPECT_EQ(ask("DELETE", old).status, 204);
  EXPECT_EQ(element(ask("GET", old), "Value"), "(none)");
}

TEST_F(S3VersionsTest, AnUploadInPartsIsAVersionToo) {
  put("k", "one");
  const std::string upload = element(ask("POST", "/photos/k?uploads"), "UploadId");
  const Reply part = ask("PUT", "/photos/k?partNumber=1&uploadId=" + upload, {}, "whole");
  const Reply done =
      ask("POST", "/photos/k?uploadId=" + upload, {}, listing({{1, part.field("etag")}}));
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(ask("GET", of("k", done.field("x-amz-version-id"))).body, "whole");
  EXPECT_EQ(versions(), "k*whole k:one");
}

TEST_F(S3VersionsTest, WhileSuspendedTheNullVersionIsReplaced) {
  put("k", "one");
  set_versioning("Suspended");
  EXPECT_EQ(put("k", "two"), "null");
  EXPECT_EQ(put("k", "three"), "null");
  EXPECT_EQ(versions(), "k*three k:one");
  EXPECT_EQ(ask("GET", of("k", "null")).body, "three");
  EXPECT_EQ(ask("DELETE", "/photos/k").field("x-amz-version-id"), "null");
  EXPECT_EQ(versions(), "k*X k:one");
  EXPECT_EQ(code(ask("GET", of("k", "null"))), "405 MethodNotAllowed");
  EXPECT_EQ(ask("DELETE", of("k", "null")).status, 204);
  EXPECT_EQ(ask("GET", "/photos/k").body, "one");
}

TEST_F(S3VersionsTest, AListingIsReadInPages) {
  for (const char* key : {"a/1", "b", "b", "b", "c/1"})
    put(key, key);
  EXPECT_EQ(versions(), "a/1*a/1 b*b b:b b:b c/1*c/1");
  std::vector<std::string> seen;
  std::string query = "&max-keys=1&delimiter=/";
  for (int page = 0; page < 10; ++page) {
    const Reply answer = ask("GET", "/photos?versions" + query);
    for (const std::string& key : elements(answer, "Key"))
      seen.push_back(key);
    const std::string groups = between(answer.body, "<CommonPrefixes>", "</CommonPrefixes>");
    if (groups != "(none)") seen.push_back(groups);
    if (element(answer, "IsTruncated") == "false") break;
    query = "&max-keys=1&delimiter=/&key-marker=" + element(answer, "NextKeyMarker");
    const std::string version = element(answer, "NextVersionIdMarker");
    if (version != "(none)") query += "&version-id-marker=" + version;
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"<Prefix>a/</Prefix>", "b", "b", "b",
                                            "<Prefix>c/</Prefix>"}));
  EXPECT_EQ(versions("&prefix=b&max-keys=2"), "b*b b:b");
  EXPECT_EQ(versions("&key-marker=b"), "c/1*c/1");
  EXPECT_EQ(versions("&max-keys=0"), "");
  EXPECT_EQ(code(ask("GET", "/photos?versions&version-id-marker=null")), "400 InvalidArgument");
  EXPECT_EQ(code(ask("GET", "/photos?versions&key-marker=b&version-id-marker=x")),
            "400 InvalidArgument");
}

TEST_F(S3Test, ABucketWithoutVersionsListsEachObjectAsNull) {
  ASSERT_EQ(ask("PUT", "/photos/k", {}, "x").status, 200);
  const Reply page = ask("GET", "/photos?versions");
  EXPECT_EQ(element(page, "VersionId"), "null");
  EXPECT_EQ(element(page, "IsLatest"), "true");
  EXPECT_EQ(ask("GET", "/photos/k?versionId=null").body, "x");
  EXPECT_EQ(ask("DELETE", "/photos/k?versionId=" + std::string(32, '0')).status, 204);
  EXPECT_EQ(ask("GET", "/photos/k").status, 200);
  EXPECT_EQ(ask("DELETE", "/photos/k?versionId=null").status, 204);
  EXPECT_EQ(ask("GET", "/photos/k").status, 404);
}

}  // namespace
}  // namespace leat::s3
