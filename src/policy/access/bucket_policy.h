// BucketPolicy: who may do what in one bucket, as a JSON document in the language of AWS.
//
// A strict subset: an element, an operator, a condition key, an action or a variable that
// is not known here makes the whole document MalformedPolicy. A rule is never passed over in
// silence: a Deny that does nothing would be a hole.
//
//   {"Version": "2012-10-17",
//    "Statement": [{"Effect": "Allow", "Principal": {"AWS": ["LEAT…"]},
//                   "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::photos/public/*",
//                   "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}]}
//
// Pure: whoever asks says who, what and from where. How the verdict goes together with the rules of
// keys is frontend/s3's (ADR 16). It never changes after parse().
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/action.h"
#include "s3error/s3error.h"

namespace leat::access {

constexpr std::size_t kPolicyMaxBytes = 20 * 1024;
constexpr int kPolicyDepthMax = 10;

enum class Verdict : std::uint8_t {
  silent,   // no statement is about it
  allowed,  // one allows it, none denies it
  denied,   // one denies it
};

// What is asked. Nothing in it is taken from a header that the sender may choose.
struct Question {
  Action action = Action::get_object;
  std::string_view key{};                       // of an object's action
  std::optional<std::string_view> principal{};  // the id of an access key; nothing: anonymous
  std::string_view source_ip{};                 // of the connection, as text
  bool is_encrypted = false;                    // the connection
  // Of a listing, if it has them.
  std::optional<std::string_view> prefix{};
  std::optional<std::string_view> delimiter{};
};

// An address, and how many of its leading bits count. IPv4 is kept as IPv6 (::ffff:a.b.c.d).
struct Network {
  std::array<std::uint8_t, 16> address{};
  unsigned bits = 0;
  bool contains(const std::array<std::uint8_t, 16>& other) const;
};
std::optional<std::array<std::uint8_t, 16>> parse_ip(std::string_view text);
std::optional<Network> parse_network(std::string_view text);

enum class Test : std::uint8_t { equals, equals_ignoring_case, like, truth, in_network };
enum class Subject : std::uint8_t { source_ip, secure_transport, prefix, delimiter };

// One condition: true if any of its values fits (or none, if it is negated).
struct Condition {
  Test test = Test::equals;
  bool is_negated = false;
  Subject subject = Subject::prefix;
  std::vector<std::string> texts{};
  std::vector<Network> networks{};
  bool wants_truth = false;
};

struct Statement {
  bool allows = false;
  bool is_for_everybody = false;
  std::vector<std::string> principals{};
  std::bitset<kActions.size()> actions{};
  bool covers_bucket = false;
  std::vector<std::string> keys{};  // patterns
  std::vector<Condition> conditions{};
};

class BucketPolicy {
 public:
  // `bucket`: the only one that its resources may name. Errors: MalformedPolicy.
  static s3error::S3Result<BucketPolicy> parse(std::string_view text, std::string_view bucket);

  Verdict decide(const Question& question) const;
  // Whether a statement allows the action for any key at all, if its conditions hold. Nobody else
  // needs to be asked which keys he means.
  bool may_allow(Action action, std::optional<std::string_view> principal) const;
  // Whether a statement allows something to everybody. Of its conditions only IpAddress makes it
  // less than public, and only with networks of /8 (IPv6: /32) or smaller.
  bool is_public() const;
  const std::vector<Statement>& statements() const { return statements_; }

 private:
  explicit BucketPolicy(std::vector<Statement> statements) : statements_(std::move(statements)) {}

  std::vector<Statement> statements_;
};

}  // namespace leat::access
