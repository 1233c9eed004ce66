// Requests that botocore signed (tests/golden/sigv4) are verified, and none of them after a change.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sigv4/fixture_test.h"

namespace leat::sigv4 {
namespace {

struct Golden {
  WallTime now{};
  std::string region{};
  std::string secret{};
  std::vector<Sent> requests{};
};

Sent sent_from(const nlohmann::json& row) {
  std::vector<std::string> fields;
  for (const auto& field : row.at("headers"))
    fields.push_back(field.at(0).get<std::string>() + ": " + field.at(1).get<std::string>());
  return Sent(row.at("method").get<std::string>() + " " + row.at("target").get<std::string>(),
              fields);
}

Golden read_golden() {
  std::ifstream file(std::string(LEAT_GOLDEN_FOLDER) + "/sigv4/requests.jsonl");
  std::string line;
  std::getline(file, line);
  const auto head = nlohmann::json::parse(line);
  Golden golden{.now = at(head.at("now").get<std::string>()),
                .region = head.at("region"),
                .secret = head.at("secret")};
  while (std::getline(file, line))
    golden.requests.push_back(sent_from(nlohmann::json::parse(line)));
  return golden;
}

class SigV4Golden : public testing::Test {
 protected:
  std::string verdict(const Request& request) const {
    const auto claim = claim_of(request);
    if (!claim || !*claim) return "no claim";
    const Rules rules{.region = golden_.region};
    const auto allowed = check_rules(request, **claim, rules, golden_.now);
    if (!allowed) return std::string(s3error::text_of(allowed.error().code));
    const SigningKey key = derive_key(golden_.secret, (*claim)->scope);
    const auto verified = sigv4::verify(request, **claim, key);
    if (!verified) return verified.error().details.at(3).second;  // the canonical request
    return "ok";
  }

  Golden golden_ = read_golden();
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

}  // namespace
}  // namespace leat::sigv4
