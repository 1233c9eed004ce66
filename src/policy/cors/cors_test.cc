#include "cors/cors.h"

#include <gtest/gtest.h>

namespace leat::cors {
namespace {

std::string document(const std::string& rules) {
  return "<CORSConfiguration>" + rules + "</CORSConfiguration>";
}

std::string rule(const std::string& more) {
  return "<CORSRule>" + more + "</CORSRule>";
}

const std::string kOrigin = "<AllowedOrigin>https://a.example</AllowedOrigin>";
const std::string kGet = "<AllowedMethod>GET</AllowedMethod>";

std::vector<Rule> parsed(const std::string& text) {
  const auto rules = parse_cors(text);
  EXPECT_TRUE(rules) << text;
  return rules ? *rules : std::vector<Rule>();
}

TEST(Cors, IsWrittenAsItWasUnderstood) {
  const auto rules = parsed(
      document(rule("<ID>one</ID>" + kOrigin + kGet +
                    "<AllowedHeader>x-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader>"
                    "<MaxAgeSeconds>60</MaxAgeSeconds>") +
               rule("<AllowedOrigin>*</AllowedOrigin><AllowedMethod>PUT</AllowedMethod>" + kGet)));
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(parsed(write_cors(rules)), rules);
}

TEST(Cors, TheFirstRuleThatFitsIsFound) {
  const auto rules = parsed(document(
      rule("<ID>sub</ID><AllowedOrigin>https://*.example</AllowedOrigin>" + kGet +
           "<AllowedHeader>x-amz-*</AllowedHeader>") +
      rule("<ID>port</ID><AllowedOrigin>http://localhost:*</AllowedOrigin>"
           "<AllowedMethod>PUT</AllowedMethod><AllowedHeader>*</AllowedHeader>") +
      rule("<ID>any</ID><AllowedOrigin>*</AllowedOrigin><AllowedMethod>HEAD</AllowedMethod>")));
  const auto found = [&](std::string_view origin, std::string_view method,
                         std::string_view headers = "") {
    const Rule* one = find_rule(rules, {.origin = origin, .method = method, .headers = headers});
    return one == nullptr ? std::string("(none)") : one->id;
  };
  EXPECT_EQ(found("https://a.example", "GET"), "sub");
  EXPECT_EQ(found("https://a.example", "GET", "X-Amz-Date, x-amz-content-sha256"), "sub");
  EXPECT_EQ(found("https://a.example", "GET", "authorization"), "(none)");
  EXPECT_EQ(found("https://a.example", "PUT"), "(none)");
  EXPECT_EQ(found("https://a.example.evil", "GET"), "(none)");
  EXPECT_EQ(found("http://a.example", "GET"), "(none)");
  EXPECT_EQ(found("http://localhost:3000", "PUT", "authorization,content-type"), "port");
  EXPECT_EQ(found("http://localhost:3000", "put"), "(none)") << "methods have one case";
  EXPECT_EQ(found("null", "HEAD"), "any");
  EXPECT_EQ(found("", "HEAD"), "(none)");
}

TEST(Cors, Abuse34NothingCanEndAField) {
  const auto rules = parsed(document(
      rule("<AllowedOrigin>*</AllowedOrigin>" + kGet + "<AllowedHeader>*</AllowedHeader>")));
  for (const std::string_view origin : {"a\r\nSet-Cookie: x", "a b", "a\n", "a\x7f"}) {
    EXPECT_EQ(find_rule(rules, {.origin = origin, .method = "GET"}), nullptr) << origin;
  }
  EXPECT_EQ(find_rule(rules, {.origin = "a", .method = "GET", .headers = "x\r\ny"}), nullptr);
  EXPECT_EQ(find_rule(rules, {.origin = "a", .method = "GET", .headers = "x:y"}), nullptr);
  for (const std::string bad : {"ETag&#13;&#10;Set-Cookie: x", "a b", "*", "x-*", ""}) {
    EXPECT_FALSE(
        parse_cors(document(rule(kOrigin + kGet + "<ExposeHeader>" + bad + "</ExposeHeader>"))))
        << bad;
  }
  EXPECT_FALSE(parse_cors(document(rule("<AllowedOrigin>a&#13;&#10;b</AllowedOrigin>" + kGet))));
}

TEST(Cors, AnswersSayWhatIsAllowed) {
  const auto rules =
      parsed(document(rule(kOrigin + kGet +
                           "<AllowedHeader>*</AllowedHeader>"
                           "<ExposeHeader>ETag</ExposeHeader><ExposeHeader>x-amz-id-2"
                           "</ExposeHeader><MaxAgeSeconds>7</MaxAgeSeconds>")));
  const Question question{
      .origin = "https://a.example", .method = "GET", .headers = "X-One,  x-two"};
  ASSERT_NE(find_rule(rules, question), nullptr);
  EXPECT_EQ(fields_of(rules[0], question),
            "Access-Control-Allow-Origin: https://a.example\r\n"
            "Access-Control-Allow-Methods: GET\r\n"
            "Access-Control-Allow-Headers: X-One, x-two\r\n"
            "Access-Control-Expose-Headers: ETag, x-amz-id-2\r\n"
            "Access-Control-Max-Age: 7\r\n"
            "Vary: Origin, Access-Control-Request-Headers, Access-Control-Request-Method\r\n");
  const auto open = parsed(document(rule("<AllowedOrigin>*</AllowedOrigin>" + kGet)));
  EXPECT_TRUE(fields_of(open[0], question).starts_with("Access-Control-Allow-Origin: *\r\n"));
}

TEST(Cors, DocumentsThatAreNoneAreRefused) {
  std::string many;
  for (int i = 0; i < 101; ++i)
    many += rule(kOrigin + kGet);
  for (const std::string& text : std::vector<std::string>{
           "", "<Other/>", document(""), document(rule("")), document(rule(kOrigin)),
           document(rule(kGet)), document("<What/>"), document(rule(kOrigin + kGet + "<What/>")),
           document(rule(kOrigin + kGet + "<MaxAgeSeconds>-1</MaxAgeSeconds>")),
           document(rule(kOrigin + kGet +
                         "<MaxAgeSeconds>1</MaxAgeSeconds>"
                         "<MaxAgeSeconds>1</MaxAgeSeconds>")),
           document(rule(kOrigin + kGet + "<ID>" + std::string(256, 'x') + "</ID>")),
           document(rule(kOrigin + "<AllowedMethod>PATCH</AllowedMethod>")),
           document(rule(kOrigin + "<AllowedMethod>get</AllowedMethod>")),
           document(rule("<AllowedOrigin>*.*</AllowedOrigin>" + kGet)),
           document(rule(kOrigin + kGet + "<AllowedHeader>**</AllowedHeader>")), document(many)}) {
    EXPECT_FALSE(parse_cors(text)) << text.substr(0, 200);
  }
}

}  // namespace
}  // namespace leat::cors
