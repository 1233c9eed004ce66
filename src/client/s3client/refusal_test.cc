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

TEST(Refusal, TakesLeatsOwnApiAtItsWord) {
  const Refusal refusal = refusal_of({.status = 409,
                                      .body = R"({"error":"conflict","message":"it is at 8"})",
                                      .bucket = "_",
                                      .key = "v1/datasets/a/b"});
  EXPECT_EQ(refusal.error.code(), Errc::conflict);
  EXPECT_EQ(refusal.error.detail(), "it is at 8");
  EXPECT_FALSE(refusal.may_retry);
  const Refusal busy =
      refusal_of({.status = 503, .body = R"({"error":"busy"})", .bucket = "_", .key = "v1/x"});
  EXPECT_EQ(busy.error.code(), Errc::busy);
  EXPECT_TRUE(busy.may_retry);
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

TEST(Refusal, EachMistakeOfANewcomerHasItsAdvice) {
  struct Case {
    std::string_view code;
    Errc errc;
    std::string_view advice;
  };
  const Case cases[] = {
      {"NoSuchBucket", Errc::not_found, "leat mb b"},
      {"NoSuchKey", Errc::not_found, "leat ls"},
      {"InvalidBucketName", Errc::bad_request, "3 to 63"},
      {"BucketNotEmpty", Errc::conflict, "rb --force"},
      {"BucketAlreadyOwnedByYou", Errc::conflict, "--exist-ok"},
      {"SignatureDoesNotMatch", Errc::denied, "AWS_SECRET_ACCESS_KEY"},
      {"RequestTimeTooSkewed", Errc::denied, "clock"},
      {"AuthorizationHeaderMalformed", Errc::denied, "--region"},
      {"AccessDenied", Errc::denied, "leat key list"},
      {"InsufficientStorage", Errc::no_space, "leat disk add"},
  };
  for (const Case& one : cases) {
    const std::string body =
        "<Error><Code>" + std::string(one.code) + "</Code><Message>m</Message></Error>";
    const Refusal refusal = refusal_of({.status = 400, .body = body, .bucket = "b", .key = "k"});
    EXPECT_EQ(refusal.error.code(), one.errc) << one.code;
    EXPECT_NE(refusal.error.detail().find(one.advice), std::string_view::npos)
        << refusal.error.detail();
  }
}

TEST(Unreachable, SaysWhatToTryNext) {
  const auto text = [](std::string_view url, Errc code) {
    return std::string(unreachable(url, Error(code, "why")).detail());
  };
  EXPECT_NE(text("http://h:1", Errc::unavailable).find("leat serve DIR"), std::string::npos);
  EXPECT_NE(text("http://h:1", Errc::not_found).find("--endpoint"), std::string::npos);
  EXPECT_NE(text("https://h:1", Errc::denied).find("--ca-file"), std::string::npos);
  EXPECT_NE(text("https://h:1", Errc::io).find("http://h:1"), std::string::npos);
  EXPECT_NE(text("http://h:1", Errc::io).find("https://h:1"), std::string::npos);
  EXPECT_NE(text("http://h:1", Errc::closed).find("https://h:1"), std::string::npos);
  EXPECT_EQ(text("https://h:1", Errc::closed), "https://h:1: why");
  EXPECT_EQ(text("http://h:1", Errc::timeout), "http://h:1: why");
}

}  // namespace
}  // namespace leat::s3client
