// A policy out of its JSON.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "access/bucket_policy.h"
#include "access/pattern.h"

namespace leat::access {
namespace {

using nlohmann::json;
using s3error::S3Result;
using s3error::S3Status;

std::unexpected<s3error::S3Error> malformed(std::string why) {
  return s3error::refuse(s3error::S3Code::malformed_policy, std::move(why));
}

struct OperatorRow {
  std::string_view name;
  Test test;
  bool is_negated;
};
constexpr std::array kOperators = {
    OperatorRow{"StringEquals", Test::equals, false},
    OperatorRow{"StringNotEquals", Test::equals, true},
    OperatorRow{"StringEqualsIgnoreCase", Test::equals_ignoring_case, false},
    OperatorRow{"StringNotEqualsIgnoreCase", Test::equals_ignoring_case, true},
    OperatorRow{"StringLike", Test::like, false},
    OperatorRow{"StringNotLike", Test::like, true},
    OperatorRow{"Bool", Test::truth, false},
    OperatorRow{"IpAddress", Test::in_network, false},
    OperatorRow{"NotIpAddress", Test::in_network, true},
};

struct SubjectRow {
  std::string_view name;
  Subject subject;
};
constexpr std::array kSubjects = {
    SubjectRow{"aws:SourceIp", Subject::source_ip},
    SubjectRow{"aws:SecureTransport", Subject::secure_transport},
    SubjectRow{"s3:prefix", Subject::prefix},
    SubjectRow{"s3:delimiter", Subject::delimiter},
};

// Keys of one object must differ, and nothing may be nested deeper than a policy is.
S3Result<json> document_in(std::string_view text) {
  if (text.size() > kPolicyMaxBytes) return malformed("The policy is larger than 20 KiB.");
  bool is_good = true;
  std::vector<std::set<std::string>> seen;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kPolicyDepthMax) is_good = false;
    if (event == json::parse_event_t::object_start) seen.emplace_back();
    if (event == json::parse_event_t::object_end) seen.pop_back();
    if (event == json::parse_event_t::key && !seen.back().insert(parsed.get<std::string>()).second)
      is_good = false;
    return true;
  };
  json document = json::parse(text, watch, /*allow_exceptions=*/false);
  if (document.is_discarded()) return malformed("Policies must be valid JSON.");
  if (!is_good) return malformed("The policy names an element twice, or is nested too deep.");
  if (!document.is_object()) return malformed("Policies must be a JSON object.");
  return document;
}

// A string, or a list of at least one.
S3Result<std::vector<std::string>> texts_in(const json& value, std::string_view what) {
  std::vector<std::string> texts;
  if (value.is_string()) {
    texts.push_back(value.get<std::string>());
  } else if (value.is_array()) {
    for (const json& one : value) {
      if (!one.is_string()) return malformed(std::string(what) + " has a value that is no text.");
      texts.push_back(one.get<std::string>());
    }
  }
  if (texts.empty()) return malformed(std::string(what) + " is empty, or no text.");
  for (const std::string& one : texts) {
    if (one.find("${") != one.npos) {
      return malformed("Variables in policies are not known here: " + one);
    }
  }
  return texts;
}

S3Status read_principal(const json& value, Statement& statement) {
  if (value == "*") {
    statement.is_for_everybody = true;
    return {};
  }
  if (!value.is_object() || value.size() != 1 || !value.contains("AWS")) {
    return malformed("Invalid principal in policy: it is \"*\" or {\"AWS\": ids of access keys}.");
  }
  LEAT_TRY(const auto names, texts_in(value.at("AWS"), "Principal"));
  for (const std::string& name : names) {
    const auto is_plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    if (name == "*") {
      statement.is_for_everybody = true;
    } else if (!name.empty() && std::ranges::all_of(name, is_plain)) {
      statement.principals.push_back(name);
    } else {
      return malformed("Invalid principal in policy: " + name + " is no id of an access key.");
    }
  }
  return {};
}

S3Status read_actions(const json& value, Statement& statement) {
  LEAT_TRY(const auto names, texts_in(value, "Action"));
  for (const std::string& name : names) {
    bool is_known = name == "*";
    for (const ActionRow& row : kActions) {
      if (name != "*" && !matches(name, "s3:" + std::string(row.text), Case::ignored)) continue;
      is_known = true;
      statement.actions.set(static_cast<std::size_t>(row.action));
    }
    if (!is_known) return malformed("Policy has invalid action: " + name);
  }
  return {};
}

S3Status read_resources(const json& value, std::string_view bucket, Statement& statement) {
  LEAT_TRY(const auto names, texts_in(value, "Resource"));
  const std::string mine = "arn:aws:s3:::" + std::string(bucket);
  for (const std::string& name : names) {
    if (name == mine) {
      statement.covers_bucket = true;
    } else if (name.starts_with(mine + "/") && name.size() > mine.size() + 1) {
      statement.keys.push_back(name.substr(mine.size() + 1));
    } else {
      return malformed("Policy has invalid resource: " + name + " is not in this bucket.");
    }
  }
  return {};
}

// As AWS: a statement whose action can meet none of its resources is a mistake.
S3Status check_reach(const Statement& statement) {
  for (const ActionRow& row : kActions) {
    if (!statement.actions.test(static_cast<std::size_t>(row.action))) continue;
    const bool reaches =
        row.scope == Scope::bucket ? statement.covers_bucket : !statement.keys.empty();
    if (reaches) return {};
  }
  return malformed("Action does not apply to any resource(s) in statement");
}

S3Status read_values(const json& value, Condition& condition) {
  if (value.is_boolean() && condition.test == Test::truth) {
    condition.wants_truth = value.get<bool>();
    return {};
  }
  LEAT_TRY(condition.texts, texts_in(value, "Condition"));
  const auto has_wildcard = [](const std::string& one) {
    return one.find_first_of("*?") != one.npos;
  };
  if (condition.test == Test::equals_ignoring_case &&
      std::ranges::any_of(condition.texts, has_wildcard)) {
    return malformed("A comparison that ignores case takes no * and no ?.");
  }
  if (condition.test == Test::truth) {
    const std::string& word = condition.texts.front();
    if (condition.texts.size() != 1 || (word != "true" && word != "false")) {
      return malformed("Bool takes true or false.");
    }
    condition.wants_truth = word == "true";
  }
  if (condition.test != Test::in_network) return {};
  for (const std::string& text : condition.texts) {
    const auto network = parse_network(text);
    if (!network) return malformed("Invalid IP address in Condition: " + text);
    condition.networks.push_back(*network);
  }
  return {};
}

bool go_together(Test test, Subject subject) {
  switch (subject) {
    case Subject::source_ip: return test == Test::in_network;
    case Subject::secure_transport: return test == Test::truth;
    case Subject::prefix:
    case Subject::delimiter: return test != Test::in_network && test != Test::truth;
  }
  return false;
}

bool is_same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && a.find_first_of("*?") == a.npos && matches(a, b, Case::ignored);
}

S3Status read_conditions(const json& value, Statement& statement) {
  if (!value.is_object()) return malformed("Condition is no object.");
  for (const auto& [word, subjects] : value.items()) {
    const auto* known = std::ranges::find(kOperators, word, &OperatorRow::name);
    if (known == kOperators.end()) return malformed("Invalid Condition type: " + word);
    if (!subjects.is_object() || subjects.empty()) return malformed(word + " is no object.");
    for (const auto& [name, values] : subjects.items()) {
      const auto* subject = std::ranges::find_if(
          kSubjects, [&](const SubjectRow& row) { return is_same_word(name, row.name); });
      if (subject == kSubjects.end() || !go_together(known->test, subject->subject)) {
        return malformed("Policy has an invalid condition key: " + name + " with " + word);
      }
      Condition condition{
          .test = known->test, .is_negated = known->is_negated, .subject = subject->subject};
      LEAT_DO(read_values(values, condition));
      statement.conditions.push_back(std::move(condition));
    }
  }
  return {};
}

S3Result<Statement> statement_in(const json& value, std::string_view bucket) {
  if (!value.is_object()) return malformed("A statement is no object.");
  Statement statement;
  for (const auto& [name, inside] : value.items()) {
    if (name == "Sid") {
      if (!inside.is_string()) return malformed("Sid is no text.");
    } else if (name == "Effect") {
      if (inside != "Allow" && inside != "Deny") return malformed("Invalid effect.");
      statement.allows = inside == "Allow";
    } else if (name == "Principal") {
      LEAT_DO(read_principal(inside, statement));
    } else if (name == "Action") {
      LEAT_DO(read_actions(inside, statement));
    } else if (name == "Resource") {
      LEAT_DO(read_resources(inside, bucket, statement));
    } else if (name == "Condition") {
      LEAT_DO(read_conditions(inside, statement));
    } else {
      return malformed("Unknown field " + name);
    }
  }
  for (const char* name : {"Effect", "Principal", "Action", "Resource"}) {
    if (!value.contains(name)) return malformed(std::string("Missing required field ") + name);
  }
  LEAT_DO(check_reach(statement));
  return statement;
}

}  // namespace

std::optional<Network> parse_network(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto address = parse_ip(text.substr(0, slash));
  if (!address || text.find('%') != text.npos) return std::nullopt;
  const bool is_v6 = text.substr(0, slash).find(':') != text.npos;
  const unsigned whole = is_v6 ? 128 : 32;
  unsigned bits = whole;
  if (slash < text.size()) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (error != std::errc{} || end != digits.data() + digits.size() || bits > whole) {
      return std::nullopt;
    }
  }
  return Network{.address = *address, .bits = is_v6 ? bits : bits + 96};
}

S3Result<BucketPolicy> BucketPolicy::parse(std::string_view text, std::string_view bucket) {
  LEAT_TRY(const json document, document_in(text));
  for (const auto& [name, inside] : document.items()) {
    if (name == "Version") {
      if (inside != "2012-10-17" && inside != "2008-10-17") {
        return malformed("Version is 2012-10-17 or 2008-10-17.");
      }
    } else if (name == "Id") {
      if (!inside.is_string()) return malformed("Id is no text.");
    } else if (name != "Statement") {
      return malformed("Unknown field " + name);
    }
  }
  if (!document.contains("Statement")) return malformed("Missing required field Statement");
  const json& given = document.at("Statement");
  const json list = given.is_array() ? given : json::array({given});
  if (list.empty()) return malformed("There is no statement in the policy.");
  std::vector<Statement> statements;
  for (const json& one : list) {
    LEAT_TRY(Statement statement, statement_in(one, bucket));
    statements.push_back(std::move(statement));
  }
  return BucketPolicy(std::move(statements));
}

}  // namespace leat::access
