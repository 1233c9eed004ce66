#include "s3client/refusal.h"

#include <gtest/gtest.h>

namespace leat::s3client {
namespace {

constexpr std::string_view kDenied =
    "<?xml version=\"1.0\"?><Error><Code>InvalidAccessKeyId</Code>"
    "<Message>unknown key</Message></Error>";

TEST(Refusal, SaysWhatWhyAndWhatToDoNext) {
  const Refusal refusal =
      refusal_of({.status = 403, .body = kDenied, .bucket = "photos", .key = "a/b"});
  EXPECT_EQ(refusal.error.code(), Errc::denied);
  EXPECT_FALSE(refusal.may_retry);
  const std::string_view text = refusal.error.detail();
  EXPECT_TRUE(text.starts_with("photos/a/b: unknown key (InvalidAccessKeyId); ")) << text;
  EXPECT_NE(text.find("leat env"), text.npos);
}

TEST(Refusal, NamesTheBucketInItsAdvice) {
  const Refusal refusal = refusal_of({.status = 404, .body = "", .bucket = "photos", .key = ""});
  EXPECT_EQ(refusal.error.code(), Errc::not_found);
  EXPECT_NE(refusal.error.detail().find("leat mb photos"), std::string_view::npos);
}

TEST(Refusal, OverloadAndDamageOnTheWayMayPass) {
  EXPECT_TRUE(refusal_of({.status = 503, .body = "", .bucket = "b", .key = ""}).may_retry);
  EXPECT_TRUE(refusal_of({.status = 500, .body = "", .bucket = "b", .key = ""}).may_retry);
  const Refusal damaged = refusal_of(
      {.status = 400, .body = "<Error><Code>BadDigest</Code></Error>", .bucket = "b", .key = "k"});
  EXPECT_TRUE(damaged.may_retry);
  EXPECT_EQ(damaged.error.code(), Errc::corrupt);
  EXPECT_FALSE(refusal_of({.status = 501, .body = "", .bucket = "b", .key = ""}).may_retry);
  EXPECT_FALSE(refusal_of({.status = 412, .body = "", .bucket = "b", .key = ""}).may_retry);
}

TEST(Refusal, ABodyThatIsNoXmlIsNoMoreThanAStatus) {
  const Refusal refusal =
      refusal_of({.status = 418, .body = "<html>teapot", .bucket = "b", .key = "k"});
  EXPECT_EQ(refusal.error.code(), Errc::bad_request);
  EXPECT_EQ(refusal.error.detail(), "b/k: answered 418");
}

}  // namespace
}  // namespace leat::s3client
