// What a policy says to a question.
#include <arpa/inet.h>

#include <algorithm>

#include "access/bucket_policy.h"
#include "access/pattern.h"

namespace leat::access {
namespace {

std::optional<std::string_view> subject_of(const Question& question, Subject subject) {
  switch (subject) {
    case Subject::source_ip: return question.source_ip;
    case Subject::secure_transport: return question.is_encrypted ? "true" : "false";
    case Subject::prefix: return question.prefix;
    case Subject::delimiter: return question.delimiter;
  }
  return std::nullopt;
}

bool fits(const Condition& condition, std::string_view text) {
  const auto any = [&](auto test) { return std::ranges::any_of(condition.texts, test); };
  switch (condition.test) {
    case Test::equals: return any([&](const std::string& one) { return one == text; });
    case Test::equals_ignoring_case:
      // A pattern without wildcards of its own: parse() took none of them for this test.
      return any([&](const std::string& one) {
        return one.size() == text.size() && matches(one, text, Case::ignored);
      });
    case Test::like: return any([&](const std::string& one) { return matches(one, text); });
    case Test::truth: return condition.wants_truth == (text == "true");
    case Test::in_network: {
      const auto address = parse_ip(text);
      return address && std::ranges::any_of(condition.networks, [&](const Network& one) {
               return one.contains(*address);
             });
    }
  }
  return false;
}

// As AWS has it: what a request does not have fits nothing, so a negated test of it holds.
bool holds(const Condition& condition, const Question& question) {
  const auto text = subject_of(question, condition.subject);
  return (text && fits(condition, *text)) != condition.is_negated;
}

bool is_about(const Statement& statement, Action action,
              std::optional<std::string_view> principal) {
  if (!statement.actions.test(static_cast<std::size_t>(action))) return false;
  return statement.is_for_everybody ||
         (principal &&
          std::ranges::find(statement.principals, *principal) != statement.principals.end());
}

bool is_about(const Statement& statement, const Question& question) {
  if (!is_about(statement, question.action, question.principal)) return false;
  const bool is_covered =
      row_of(question.action).scope == Scope::bucket
          ? statement.covers_bucket
          : std::ranges::any_of(statement.keys, [&](const std::string& pattern) {
              return matches(pattern, question.key);
            });
  return is_covered && std::ranges::all_of(statement.conditions, [&](const Condition& one) {
           return holds(one, question);
         });
}

// A network that is wider names no particular place: as AWS has it, /8 of IPv4 and /32 of IPv6.
constexpr unsigned kNarrowBits = 32;
constexpr unsigned kNarrowMappedBits = 96 + 8;

bool is_narrow(const Network& network) {
  // A range of IPv6 may have all of IPv4 in it: ::/32 has ::ffff:0:0/96.
  std::array<std::uint8_t, 16> mapped{};
  mapped[10] = mapped[11] = 0xff;
  const Network ahead{.address = network.address, .bits = std::min(network.bits, 96U)};
  return network.bits >= (ahead.contains(mapped) ? kNarrowMappedBits : kNarrowBits);
}

// Whether it leaves only requests from a few networks. Everything else that a condition can ask
// for, anybody can have: an encrypted connection, a prefix, an address outside of some networks.
bool keeps_public_out(const Condition& condition) {
  return condition.test == Test::in_network && !condition.is_negated &&
         std::ranges::all_of(condition.networks, is_narrow);
}

}  // namespace

bool Network::contains(const std::array<std::uint8_t, 16>& other) const {
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if (((address[bit / 8] ^ other[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

std::optional<std::array<std::uint8_t, 16>> parse_ip(std::string_view text) {
  const std::string name(text.substr(0, text.find('%')));  // a zone is no part of the address
  std::array<std::uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1) return bytes;
  bytes = {};
  bytes[10] = bytes[11] = 0xff;
  if (::inet_pton(AF_INET, name.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

Verdict BucketPolicy::decide(const Question& question) const {
  Verdict verdict = Verdict::silent;
  for (const Statement& statement : statements_) {
    if (!is_about(statement, question)) continue;
    if (!statement.allows) return Verdict::denied;
    verdict = Verdict::allowed;
  }
  return verdict;
}

bool BucketPolicy::may_allow(Action action, std::optional<std::string_view> principal) const {
  return std::ranges::any_of(statements_, [&](const Statement& one) {
    return one.allows && is_about(one, action, principal);
  });
}

bool BucketPolicy::is_public() const {
  return std::ranges::any_of(statements_, [](const Statement& one) {
    return one.allows && one.is_for_everybody &&
           std::ranges::none_of(one.conditions, keeps_public_out);
  });
}

}  // namespace leat::access
