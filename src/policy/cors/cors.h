// CORS rules of a bucket: which web pages may read its answers.
//
// A rule opens nothing: it lets a browser show a page an answer that the page's user could have had
// anyway. Credentials are never allowed in the browser's sense (no cookie means anything here).
//
// Pure. The document that is kept is the one that write_cors() makes of what was understood.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "s3error/s3error.h"

namespace leat::cors {

constexpr std::size_t kRulesMax = 100;

struct Rule {
  std::string id{};
  std::vector<std::string> origins{};  // at most one '*' in each
  std::vector<std::string> methods{};
  std::vector<std::string> headers{};  // that a page may send; at most one '*' in each
  std::vector<std::string> exposed{};  // that a page may see
  std::optional<std::uint32_t> max_age_seconds{};
  bool operator==(const Rule&) const = default;
};

// Errors: MalformedXML, InvalidRequest.
s3error::S3Result<std::vector<Rule>> parse_cors(std::string_view xml);
std::string write_cors(const std::vector<Rule>& rules);

// What a browser asks: for a request that it has sent, or before it sends it.
struct Question {
  std::string_view origin{};
  std::string_view method{};
  std::string_view headers{};  // Access-Control-Request-Headers; "a, b"
};

// The first rule that allows it; null without one.
const Rule* find_rule(std::span<const Rule> rules, const Question& question);

// The fields of an answer to it, each with its CRLF. Nothing of the question is repeated that could
// not stand in a field.
std::string fields_of(const Rule& rule, const Question& question);

}  // namespace leat::cors
