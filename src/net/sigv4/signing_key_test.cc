#include "sigv4/signing_key.h"

#include <gtest/gtest.h>

#include "sigv4/payload.h"
#include "sigv4/timestamp.h"

namespace leat::sigv4 {
namespace {

const Scope kScope{.date = "20130524", .region = "us-east-1", .service = "s3"};

TEST(SigningKeys, GivesWhatDeriveKeyGives) {
  SigningKeys keys;
  Scope tomorrow = kScope;
  tomorrow.date = "20130525";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(keys.get("alice", "s1", kScope), derive_key("s1", kScope));
    EXPECT_EQ(keys.get("bob", "s2", kScope), derive_key("s2", kScope));
    EXPECT_EQ(keys.get("alice", "s1", tomorrow), derive_key("s1", tomorrow));
  }
  EXPECT_EQ(keys.size(), 2U);
}

TEST(SigningKeys, ForgetsAKeyWhoseSecretChanged) {
  SigningKeys keys;
  EXPECT_EQ(keys.get("alice", "old", kScope), derive_key("old", kScope));
  EXPECT_EQ(keys.get("alice", "new", kScope), derive_key("new", kScope));
}

TEST(SigningKeys, IsBounded) {
  SigningKeys keys(3);
  for (int i = 0; i < 10; ++i) {
    const std::string name = std::to_string(i);
    EXPECT_EQ(keys.get(name, "s", kScope), derive_key("s", kScope));
    EXPECT_LE(keys.size(), 3U);
  }
}

TEST(Timestamp, GoesThereAndBack) {
  for (const std::string_view text : {"19700101T000000Z", "20240229T235959Z", "21991231T235959Z"})
    EXPECT_EQ(format_timestamp(parse_timestamp(text).value()), text);
}

TEST(Timestamp, HasOneFormOnly) {
  for (const std::string_view text :
       {"", "20130524", "2013-05-24T00:00:00Z", "20130524T000000", "20130524t000000Z",
        "20130524T000000z", "20130524T240000Z", "20130524T006000Z", "20130524T000060Z",
        "20130229T000000Z", "20131301T000000Z", "20130500T000000Z", "+0130524T000000Z",
        "99991231T235959Z", "19691231T235959Z", "20130524T00000-Z", "20130524T000000ZZ"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
}

TEST(Payload, TheSevenWordsAndNoOther) {
  const std::pair<std::string_view, PayloadKind> words[] = {
      {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", PayloadKind::hashed},
      {"UNSIGNED-PAYLOAD", PayloadKind::unsigned_plain},
      {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD", PayloadKind::stream_signed},
      {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", PayloadKind::stream_signed_trailer},
      {"STREAMING-UNSIGNED-PAYLOAD-TRAILER", PayloadKind::stream_unsigned_trailer},
  };
  for (const auto& [word, kind] : words)
    EXPECT_EQ(payload_from(word)->kind, kind) << word;
}

TEST(Payload, Abuse09UnknownWordsAreRefused) {
  using s3error::S3Code;
  for (const std::string_view word : {"STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD",
                                      "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER"})
    EXPECT_EQ(payload_from(word).error().code, S3Code::not_implemented) << word;
  for (const std::string_view word :
       {"", "unsigned-payload", "UNSIGNED-PAYLOAD-TRAILER", "STREAMING-UNSIGNED-PAYLOAD",
        "STREAMING-", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILERS", "e3b0c442",
        "x3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})
    EXPECT_EQ(payload_from(word).error().code, S3Code::invalid_request) << word;
}

}  // namespace
}  // namespace leat::sigv4
