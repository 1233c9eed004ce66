// Fuzzes what configurations of buckets are made of: policies, CORS and lifecycle rules. Checked of
// every input:
//   1. a policy is refused as MalformedPolicy, or gives the same verdict twice, and denies what one
//      of its statements denies, whatever stands around it;
//   2. CORS and lifecycle rules that are taken, written again, read back as the same rules;
//   3. no field of a CORS answer ends before its own line does.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "access/bucket_policy.h"
#include "base/check.h"
#include "cors/cors.h"
#include "lifecycle/lifecycle.h"

namespace {

using namespace leat;

void check_policy(std::string_view text) {
  const auto policy = access::BucketPolicy::parse(text, "photos");
  if (!policy) {
    LEAT_CHECK(policy.error().code == s3error::S3Code::malformed_policy);
    LEAT_CHECK(!policy.error().message.empty());
    return;
  }
  bool has_deny = false;
  for (const access::Statement& one : policy->statements())
    has_deny = has_deny || !one.allows;
  for (const access::ActionRow& row : access::kActions) {
    const access::Question question{
        .action = row.action, .key = text.substr(0, 20), .source_ip = "10.0.0.1"};
    const access::Verdict verdict = policy->decide(question);
    LEAT_CHECK(verdict == policy->decide(question));
    LEAT_CHECK(verdict != access::Verdict::denied || has_deny);
  }
}

void check_cors(std::string_view text) {
  const auto rules = cors::parse_cors(text);
  if (!rules) return;
  LEAT_CHECK(cors::parse_cors(cors::write_cors(*rules)).value() == *rules);
  const cors::Question question{
      .origin = text.substr(0, 30), .method = "GET", .headers = text.substr(0, 10)};
  const cors::Rule* rule = cors::find_rule(*rules, question);
  if (rule == nullptr) return;
  const std::string fields = cors::fields_of(*rule, question);
  for (std::size_t at = 0; at < fields.size();) {
    const std::size_t end = fields.find("\r\n", at);
    LEAT_CHECK(end != fields.npos);
    const std::string_view line = std::string_view(fields).substr(at, end - at);
    LEAT_CHECK(line.find_first_of("\r\n") == line.npos);
    LEAT_CHECK(line.starts_with("Access-Control-") || line.starts_with("Vary: "));
    at = end + 2;
  }
}

void check_lifecycle(std::string_view text) {
  const auto rules = lifecycle::parse_lifecycle(text);
  if (!rules) return;
  LEAT_CHECK(lifecycle::parse_lifecycle(lifecycle::write_lifecycle(*rules)).value() == *rules);
  const lifecycle::Object object{.key = "tmp/a", .modified_ms = 1};
  if (const auto due = lifecycle::expiry_of(*rules, object, lifecycle::kDayMs)) {
    LEAT_CHECK(!due->rule.empty() && due->at_ms >= 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_policy(text);
  check_cors(text);
  check_lifecycle(text);
  return 0;
}
