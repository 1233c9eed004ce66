// Requests that botocore signed (tests/golden/sigv4) are verified, and none of them after a change;
// bodies that it framed are read.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "s3body/body_fixture_test.h"
#include "sigv4/fixture_test.h"

namespace leat::sigv4 {
namespace {

struct Golden {
  WallTime now{};
  std::string region{};
  std::string access_key{};
  std::string secret{};
  std::vector<Sent> requests{};
  std::vector<nlohmann::json> rows{};
};

Sent sent_from(const nlohmann::json& row) {
  std::vector<std::string> fields;
  for (const auto& field : row.at("headers"))
    fields.push_back(field.at(0).get<std::string>() + ": " + field.at(1).get<std::string>());
  return Sent(row.at("method").get<std::string>() + " " + row.at("target").get<std::string>(),
              fields);
}

Golden read_golden(const std::string& name) {
  std::ifstream file(std::string(LEAT_GOLDEN_FOLDER) + "/sigv4/" + name);
  std::string line;
  std::getline(file, line);
  const auto head = nlohmann::json::parse(line);
  Golden golden{.now = at(head.at("now").get<std::string>()),
                .region = head.at("region"),
                .access_key = head.at("access_key"),
                .secret = head.at("secret")};
  while (std::getline(file, line)) {
    golden.rows.push_back(nlohmann::json::parse(line));
    golden.requests.push_back(sent_from(golden.rows.back()));
  }
  return golden;
}

Judge judge_of(const Golden& golden) {
  return {.rules = {.region = golden.region},
          .now = golden.now,
          .access_key = golden.access_key,
          .secret = golden.secret};
}

class SigV4Golden : public testing::Test {
 protected:
  std::string verdict(const Request& request) const {
    const auto identity = judge_of(golden_)(request);
    if (identity) return "ok";
    // A mismatch shows the canonical request last.
    const auto& details = identity.error().details;
    return details.empty() ? identity.error().message : details.back().second;
  }

  Golden golden_ = read_golden("requests.jsonl");
};

TEST_F(SigV4Golden, WhatBotocoreSignedVerifies) {
  EXPECT_GE(golden_.requests.size(), 200U);
  for (const Sent& sent : golden_.requests)
    EXPECT_EQ(verdict(sent.request()), "ok") << sent.head().target;
}

TEST_F(SigV4Golden, NoChangedRequestVerifies) {
  for (const Sent& sent : golden_.requests) {
    Request request = sent.request();
    request.path.push_back('x');
    EXPECT_NE(verdict(request), "ok") << sent.head().target;
    request = sent.request();
    request.query.push_back({.name = "acl", .value = ""});
    EXPECT_NE(verdict(request), "ok") << sent.head().target;
    request = sent.request();
    request.headers.push_back({.name = "x-amz-meta-0", .value = "added"});
    EXPECT_NE(verdict(request), "ok") << sent.head().target;
  }
}

S3Result<s3body::BodyDigests> receive(const Golden& golden, const Sent& sent,
                                      std::string_view body) {
  const Request request = sent.request();
  LEAT_TRY(const Identity identity, judge_of(golden)(request));
  const s3body::HttpFraming framing{.content_length = sent.head().content_length,
                                    .chunked = sent.head().chunked};
  LEAT_TRY(auto plan, s3body::plan_upload(request, identity.claim.payload, framing));
  LEAT_TRY(auto reader, s3body::BodyReader::create(std::move(plan), identity.chain));
  std::string object;
  LEAT_DO(s3body::push_all(reader, body, 1000, object));
  return reader.finish();
}

TEST(SigV4GoldenUploads, BodiesOfBoto3AreReadAndChecked) {
  const Golden golden = read_golden("uploads.jsonl");
  ASSERT_GE(golden.rows.size(), 16U);
  for (std::size_t i = 0; i < golden.rows.size(); ++i) {
    const auto body = from_base64(golden.rows[i].at("body").get<std::string>()).value();
    const auto digests = receive(golden, golden.requests[i], as_text(body));
    ASSERT_TRUE(digests) << i << digests.error().message;
    EXPECT_EQ(to_hex(*digests->md5), golden.rows[i].at("md5").get<std::string>()) << i;
    if (body.empty()) continue;
    const std::string_view cut = as_text(body).substr(1);
    EXPECT_FALSE(receive(golden, golden.requests[i], cut)) << i;
  }
}

}  // namespace
}  // namespace leat::sigv4
