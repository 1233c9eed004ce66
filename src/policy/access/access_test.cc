#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "access/bucket_policy.h"
#include "access/pattern.h"

namespace leat::access {
namespace {

std::string policy(const std::string& statements) {
  return R"({"Version":"2012-10-17","Statement":[)" + statements + "]}";
}

std::string statement(const std::string& effect, const std::string& principal,
                      const std::string& action, const std::string& resource,
                      const std::string& more = "") {
  return R"({"Effect":")" + effect + R"(","Principal":)" + principal + R"(,"Action":)" + action +
         R"(,"Resource":)" + resource + more + "}";
}

const std::string kAll = R"(["arn:aws:s3:::photos","arn:aws:s3:::photos/*"])";

BucketPolicy parsed(const std::string& text) {
  auto made = BucketPolicy::parse(text, "photos");
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  if (!made)
    return BucketPolicy::parse(policy(statement("Deny", "\"*\"", "\"*\"", kAll)), "photos").value();
  return *made;
}

TEST(Pattern, StarsAndQuestionMarks) {
  for (const auto& [pattern, text] :
       {std::pair("", ""), std::pair("*", ""), std::pair("*", "any/thing"), std::pair("a?c", "abc"),
        std::pair("a*c", "ac"), std::pair("a*b*c", "a--b--b--c"), std::pair("*.jpg", "a.jpg.jpg"),
        std::pair("**", "x")}) {
    EXPECT_TRUE(matches(pattern, text)) << pattern << " " << text;
  }
  for (const auto& [pattern, text] :
       {std::pair("", "a"), std::pair("a?c", "ac"), std::pair("a", "A"), std::pair("a*c", "acd"),
        std::pair("?", ""), std::pair("a*", "ba")}) {
    EXPECT_FALSE(matches(pattern, text)) << pattern << " " << text;
  }
  EXPECT_TRUE(matches("S3:get*", "s3:GetObject", Case::ignored));
  // Stars that make others' matchers take exponential time.
  EXPECT_FALSE(matches("a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(1000, 'a')));
}

TEST(Actions, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const ActionRow& row : kActions) {
    EXPECT_TRUE(names.insert(row.text).second) << row.text;
    EXPECT_EQ(row_of(row.action).text, row.text);
  }
}

TEST(BucketPolicy, Abuse46DenyBeatsAllowInAnyOrder) {
  const std::string allow = statement("Allow", "\"*\"", R"("s3:*")", kAll);
  const std::string deny = statement("Deny", R"({"AWS":"LEATALICE"})", R"(["s3:DeleteObject"])",
                                     R"("arn:aws:s3:::photos/keep/*")");
  for (const std::string& text : {policy(allow + "," + deny), policy(deny + "," + allow)}) {
    const BucketPolicy both = parsed(text);
    Question question{.action = Action::delete_object, .key = "keep/a", .principal = "LEATALICE"};
    EXPECT_EQ(both.decide(question), Verdict::denied);
    question.key = "other";
    EXPECT_EQ(both.decide(question), Verdict::allowed);
    question.key = "keep/a";
    question.principal = "LEATBOB";
    EXPECT_EQ(both.decide(question), Verdict::allowed);
  }
}

TEST(BucketPolicy, IsSilentAboutWhatNoStatementCovers) {
  const BucketPolicy one = parsed(policy(
      statement("Allow", R"({"AWS":["LEATALICE","LEATBOB"]})", R"(["s3:GetObject","s3:list*"])",
                R"(["arn:aws:s3:::photos/pub/*","arn:aws:s3:::photos"])")));
  Question question{.action = Action::get_object, .key = "pub/a", .principal = "LEATBOB"};
  EXPECT_EQ(one.decide(question), Verdict::allowed);
  question.principal = "LEATEVE";
  EXPECT_EQ(one.decide(question), Verdict::silent);
  question.principal = std::nullopt;
  EXPECT_EQ(one.decide(question), Verdict::silent);
  question = {.action = Action::get_object, .key = "pub", .principal = "LEATBOB"};
  EXPECT_EQ(one.decide(question), Verdict::silent);
  question = {.action = Action::put_object, .key = "pub/a", .principal = "LEATBOB"};
  EXPECT_EQ(one.decide(question), Verdict::silent);
  question = {.action = Action::list_bucket, .principal = "LEATBOB"};
  EXPECT_EQ(one.decide(question), Verdict::allowed);
  EXPECT_FALSE(one.is_public());
}

TEST(BucketPolicy, TellsWhetherAnythingCouldBeAllowed) {
  const std::string some = R"("arn:aws:s3:::photos/some/*")";
  const std::string never = R"(,"Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.1/32"}})";
  const BucketPolicy made =
      parsed(policy(statement("Allow", R"({"AWS":"LEAT1"})", R"("s3:DeleteObject")", some, never) +
                    "," + statement("Allow", "\"*\"", R"("s3:GetObject")", kAll) + "," +
                    statement("Deny", "\"*\"", R"("s3:PutObject")", kAll)));
  EXPECT_TRUE(made.may_allow(Action::delete_object, "LEAT1"));
  EXPECT_FALSE(made.may_allow(Action::delete_object, "LEAT2"));
  EXPECT_FALSE(made.may_allow(Action::delete_object, std::nullopt));
  EXPECT_TRUE(made.may_allow(Action::get_object, std::nullopt));
  EXPECT_FALSE(made.may_allow(Action::put_object, "LEAT1")) << "denied is not allowed";
}

TEST(BucketPolicy, ObjectsAreNotTheBucketAndTheOtherWayRound) {
  const BucketPolicy objects =
      parsed(policy(statement("Allow", "\"*\"", R"("s3:*")", R"("arn:aws:s3:::photos/*")")));
  EXPECT_EQ(objects.decide({.action = Action::list_bucket}), Verdict::silent);
  EXPECT_EQ(objects.decide({.action = Action::get_object, .key = "a"}), Verdict::allowed);
  const BucketPolicy bucket =
      parsed(policy(statement("Allow", "\"*\"", R"("s3:*")", R"("arn:aws:s3:::photos")")));
  EXPECT_EQ(bucket.decide({.action = Action::list_bucket}), Verdict::allowed);
  EXPECT_EQ(bucket.decide({.action = Action::get_object, .key = "a"}), Verdict::silent);
  EXPECT_TRUE(bucket.is_public());
}

TEST(BucketPolicy, OnlySmallNetworksKeepThePublicOut) {
  const auto is_public = [](std::string_view condition) {
    const std::string more = fmt::format(R"(,"Condition":{{{}}})", condition);
    return parsed(policy(statement("Allow", "\"*\"", R"("s3:*")", kAll, more))).is_public();
  };
  const auto from = [&](std::string_view networks) {
    return is_public(fmt::format(R"("IpAddress":{{"aws:SourceIp":[{}]}})", networks));
  };
  EXPECT_FALSE(from(R"("10.0.0.0/8")"));
  EXPECT_FALSE(from(R"("10.1.2.3","2001:db8::/32")"));
  EXPECT_TRUE(from(R"("0.0.0.0/0")"));
  EXPECT_TRUE(from(R"("10.0.0.0/8","128.0.0.0/7")")) << "one that is wide is enough";
  EXPECT_TRUE(from(R"("2001:d00::/31")"));
  EXPECT_TRUE(from(R"("::/32")")) << "it has all of IPv4";
  EXPECT_TRUE(from(R"("::ffff:0:0/96")"));
  EXPECT_FALSE(from(R"("::ffff:10.0.0.0/104")"));
  EXPECT_TRUE(is_public(R"("Bool":{"aws:SecureTransport":"true"})"));
  EXPECT_TRUE(is_public(R"("StringLike":{"s3:prefix":"a*"})"));
  EXPECT_TRUE(is_public(R"("NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"})"));
  EXPECT_FALSE(is_public(R"("Bool":{"aws:SecureTransport":"true"},)"
                         R"("IpAddress":{"aws:SourceIp":"10.0.0.0/8"})"));
}

TEST(BucketPolicy, ConditionsOnTheConnection) {
  const BucketPolicy one = parsed(policy(
      statement("Allow", "\"*\"", R"("s3:GetObject")", kAll,
                R"(,"Condition":{"IpAddress":{"aws:SourceIp":["10.1.0.0/16","2001:db8::/32"]}})") +
      "," +
      statement("Deny", "\"*\"", R"("s3:*")", kAll,
                R"(,"Condition":{"Bool":{"aws:SecureTransport":"false"}})")));
  const auto ask = [&](std::string_view from, bool encrypted) {
    return one.decide(
        {.action = Action::get_object, .key = "a", .source_ip = from, .is_encrypted = encrypted});
  };
  EXPECT_EQ(ask("10.1.2.3", true), Verdict::allowed);
  EXPECT_EQ(ask("::ffff:10.1.2.3", true), Verdict::allowed) << "the same address as IPv6";
  EXPECT_EQ(ask("2001:db8::1", true), Verdict::allowed);
  EXPECT_EQ(ask("10.2.0.1", true), Verdict::silent);
  EXPECT_EQ(ask("nonsense", true), Verdict::silent);
  EXPECT_EQ(ask("10.1.2.3", false), Verdict::denied);
  EXPECT_FALSE(one.is_public());
  const BucketPolicy fence =
      parsed(policy(statement("Deny", "\"*\"", R"("s3:*")", kAll,
                              R"(,"Condition":{"NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"}})")));
  EXPECT_EQ(fence.decide({.key = "a", .source_ip = "10.9.9.9"}), Verdict::silent);
  EXPECT_EQ(fence.decide({.key = "a", .source_ip = "11.9.9.9"}), Verdict::denied);
}

TEST(BucketPolicy, ConditionsOnListings) {
  const BucketPolicy one = parsed(
      policy(statement("Allow", "\"*\"", R"("s3:ListBucket")", kAll,
                       R"(,"Condition":{"StringLike":{"s3:prefix":["home/alice/*","home/"]}})") +
             "," +
             statement("Deny", "\"*\"", R"("s3:ListBucket")", kAll,
                       R"(,"Condition":{"StringNotEqualsIgnoreCase":{"s3:delimiter":"/"}})")));
  const auto list = [&](std::optional<std::string_view> prefix,
                        std::optional<std::string_view> delimiter) {
    return one.decide({.action = Action::list_bucket, .prefix = prefix, .delimiter = delimiter});
  };
  EXPECT_EQ(list("home/alice/x", "/"), Verdict::allowed);
  EXPECT_EQ(list("home/bob/x", "/"), Verdict::silent);
  EXPECT_EQ(list(std::nullopt, "/"), Verdict::silent);
  EXPECT_EQ(list("home/", std::nullopt), Verdict::denied) << "what is not there is not equal";
  EXPECT_EQ(list("home/", "x"), Verdict::denied);
}

TEST(BucketPolicy, Abuse42WhatIsNotKnownIsRefusedNeverPassedOver) {
  const std::string everybody = "\"*\"";
  const std::string get = R"("s3:GetObject")";
  const auto with = [&](const std::string& more) {
    return policy(statement("Deny", everybody, get, kAll, more));
  };
  std::string deep = "1";
  for (int i = 0; i < 5000; ++i)
    deep = "[" + deep + "]";
  const std::vector<std::string> bad = {
      "",
      "[]",
      "{",
      "{}",
      "nonsense",
      policy(""),
      policy("1"),
      R"({"Version":"2020-01-01","Statement":[]})",
      R"({"Version":"2012-10-17","Statement":[],"More":1})",
      policy(statement("Maybe", everybody, get, kAll)),
      policy(statement("Allow", R"("LEATALICE")", get, kAll)),
      policy(statement("Allow", R"({"AWS":"arn:aws:iam::1:root"})", get, kAll)),
      policy(statement("Allow", R"({"AWS":[]})", get, kAll)),
      policy(statement("Allow", R"({"Service":"x"})", get, kAll)),
      policy(statement("Allow", R"({"AWS":"*","Service":"x"})", get, kAll)),
      policy(statement("Allow", everybody, R"("s3:GetObjekt")", kAll)),
      policy(statement("Allow", everybody, R"("GetObject")", kAll)),
      policy(statement("Allow", everybody, R"([])", kAll)),
      policy(statement("Allow", everybody, R"(["s3:GetObject",1])", kAll)),
      policy(statement("Allow", everybody, get, R"("arn:aws:s3:::other/*")")),
      policy(statement("Allow", everybody, get, R"("arn:aws:s3:::photos-2/*")")),
      policy(statement("Allow", everybody, get, R"("arn:aws:s3:::*")")),
      policy(statement("Allow", everybody, get, R"("*")")),
      policy(statement("Allow", everybody, get, R"("arn:aws:s3:::photos")")),
      policy(statement("Allow", everybody, R"("s3:ListBucket")", R"("arn:aws:s3:::photos/*")")),
      policy(statement("Allow", everybody, get, R"("arn:aws:s3:::photos/${aws:username}/*")")),
      with(R"(,"NotPrincipal":"*")"),
      with(R"(,"NotAction":"s3:*")"),
      with(R"(,"Sid":1)"),
      with(R"(,"Effect":"Allow")"),  // twice
      with(R"(,"Condition":[])"),
      with(R"(,"Condition":{"StringSimilar":{"s3:prefix":"a"}})"),
      with(R"(,"Condition":{"StringEqualsIfExists":{"s3:prefix":"a"}})"),
      with(R"(,"Condition":{"StringEquals":{"aws:Referer":"a"}})"),
      with(R"(,"Condition":{"StringEquals":{"aws:SourceIp":"10.0.0.1"}})"),
      with(R"(,"Condition":{"StringEquals":{"s3:prefix":"${aws:username}"}})"),
      with(R"(,"Condition":{"StringEquals":{}})"),
      with(R"(,"Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/33"}})"),
      with(R"(,"Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/x"}})"),
      with(R"(,"Condition":{"IpAddress":{"aws:SourceIp":"somewhere"}})"),
      with(R"(,"Condition":{"Bool":{"aws:SecureTransport":"maybe"}})"),
      R"({"Statement":)" + deep + "}",
      policy(statement("Allow", everybody, get, kAll)) + std::string(kPolicyMaxBytes, ' '),
  };
  for (const std::string& text : bad) {
    const auto made = BucketPolicy::parse(text, "photos");
    ASSERT_FALSE(made) << text.substr(0, 200);
    EXPECT_EQ(made.error().code, s3error::S3Code::malformed_policy) << text.substr(0, 200);
  }
  for (const char* missing : {"Effect", "Principal", "Action", "Resource"}) {
    std::string text = policy(statement("Allow", everybody, get, kAll));
    text.replace(text.find(missing), std::string_view(missing).size(), "Sid");
    EXPECT_FALSE(BucketPolicy::parse(text, "photos")) << missing;
  }
  EXPECT_TRUE(BucketPolicy::parse(
      R"({"Id":"x","Statement":)" + statement("Allow", everybody, get, kAll) + "}", "photos"))
      << "one statement need not be a list";
}

}  // namespace
}  // namespace leat::access
