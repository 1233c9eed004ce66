#include "cors/cors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "access/pattern.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::cors {
namespace {

using s3error::refuse;
using s3error::S3Code;
using s3error::S3Result;
using s3error::S3Status;

constexpr std::array<std::string_view, 5> kMethods = {"GET", "PUT", "POST", "DELETE", "HEAD"};
constexpr std::size_t kIdMax = 255;
constexpr std::size_t kHeadersMax = 100;  // in one question

std::unexpected<s3error::S3Error> malformed() {
  return refuse(S3Code::malformed_xml,
                "The XML you provided was not well-formed or did not validate against our "
                "published schema");
}

// What may stand in a field, and in no second one: visible ASCII.
bool is_visible(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";  // of tokens (RFC 9110, 5.6.2)

bool is_header_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != kMarks.npos;
  });
}

S3Status check_origin(const std::string& text) {
  // '?' would be a wildcard of patterns, which CORS does not have.
  if (!is_visible(text) || text.find('?') != text.npos) {
    return refuse(S3Code::invalid_request, "An AllowedOrigin is not valid.");
  }
  if (std::ranges::count(text, '*') <= 1) return {};
  return refuse(S3Code::invalid_request,
                fmt::format("AllowedOrigin \"{}\" can not have more than one wildcard.", text));
}

S3Status check_method(const std::string& text) {
  if (std::ranges::find(kMethods, text) != kMethods.end()) return {};
  return refuse(
      S3Code::invalid_request,
      fmt::format("Found unsupported HTTP method in CORS config. Unsupported method is {}", text));
}

S3Status check_header(const std::string& text) {
  if (!is_header_name(text)) return refuse(S3Code::invalid_request, "An AllowedHeader is no name.");
  if (std::ranges::count(text, '*') <= 1) return {};
  return refuse(S3Code::invalid_request,
                fmt::format("AllowedHeader \"{}\" can not have more than one wildcard.", text));
}

S3Status check_exposed(const std::string& text) {
  if (is_header_name(text) && text.find('*') == text.npos) return {};
  return refuse(S3Code::invalid_request,
                fmt::format("ExposeHeader \"{}\" contains wildcard or is no name of a header. We "
                            "currently do not support wildcard for ExposeHeader.",
                            text));
}

struct List {
  std::string_view element;
  std::vector<std::string> Rule::* place;
  S3Status (*check)(const std::string&);
};
constexpr std::array kLists = {
    List{"AllowedOrigin", &Rule::origins, check_origin},
    List{"AllowedMethod", &Rule::methods, check_method},
    List{"AllowedHeader", &Rule::headers, check_header},
    List{"ExposeHeader", &Rule::exposed, check_exposed},
};

S3Result<std::uint32_t> seconds_in(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return malformed();
  return value;
}

S3Result<Rule> rule_in(xml::Element element) {
  Rule rule;
  if (element.name() != "CORSRule") return malformed();
  for (const xml::Element child : element.children()) {
    const auto* list = std::ranges::find(kLists, child.name(), &List::element);
    const std::string text(child.text());
    if (list != kLists.end()) {
      LEAT_DO(list->check(text));
      (rule.*(list->place)).push_back(text);
    } else if (child.name() == "ID" && rule.id.empty() && text.size() <= kIdMax) {
      rule.id = text;
    } else if (child.name() == "MaxAgeSeconds" && !rule.max_age_seconds) {
      LEAT_TRY(rule.max_age_seconds, seconds_in(text));
    } else {
      return malformed();
    }
  }
  if (rule.origins.empty() || rule.methods.empty()) return malformed();
  return rule;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t'))
    text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t'))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (const auto item = trimmed(list.substr(0, comma)); !item.empty()) items.push_back(item);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return items;
}

bool allows(const Rule& rule, const Question& question) {
  const auto is_origin = [&](const std::string& pattern) {
    return access::matches(pattern, question.origin);
  };
  if (std::ranges::none_of(rule.origins, is_origin)) return false;
  if (std::ranges::find(rule.methods, question.method) == rule.methods.end()) return false;
  const auto items = items_of(question.headers);
  return items.size() <= kHeadersMax && std::ranges::all_of(items, [&](std::string_view item) {
           return is_header_name(item) &&
                  std::ranges::any_of(rule.headers, [item](const std::string& pattern) {
                    return access::matches(pattern, item, access::Case::ignored);
                  });
         });
}

}  // namespace

S3Result<std::vector<Rule>> parse_cors(std::string_view xml) {
  const auto document = xml::Document::parse(as_bytes(xml));
  if (!document || document->root().name() != "CORSConfiguration") return malformed();
  std::vector<Rule> rules;
  for (const xml::Element child : document->root().children()) {
    LEAT_TRY(Rule rule, rule_in(child));
    rules.push_back(std::move(rule));
  }
  if (rules.empty()) return malformed();
  if (rules.size() > kRulesMax) {
    return refuse(S3Code::invalid_request, "The number of CORS rules should not exceed 100.");
  }
  return rules;
}

std::string write_cors(const std::vector<Rule>& rules) {
  std::string out;
  xml::Writer xml(out);
  xml.open("CORSConfiguration", "http://s3.amazonaws.com/doc/2006-03-01/");
  for (const Rule& rule : rules) {
    xml.open("CORSRule");
    if (!rule.id.empty()) xml.element("ID", rule.id);
    for (const List& list : kLists) {
      for (const std::string& text : rule.*(list.place))
        xml.element(list.element, text);
    }
    if (rule.max_age_seconds) xml.element("MaxAgeSeconds", std::uint64_t{*rule.max_age_seconds});
    xml.close();
  }
  xml.close();
  return out;
}

const Rule* find_rule(std::span<const Rule> rules, const Question& question) {
  if (!is_visible(question.origin)) return nullptr;
  const auto found =
      std::ranges::find_if(rules, [&](const Rule& rule) { return allows(rule, question); });
  return found == rules.end() ? nullptr : &*found;
}

std::string fields_of(const Rule& rule, const Question& question) {
  const bool is_open = std::ranges::find(rule.origins, "*") != rule.origins.end();
  std::string out = fmt::format("Access-Control-Allow-Origin: {}\r\n",
                                is_open ? std::string_view("*") : question.origin);
  out += fmt::format("Access-Control-Allow-Methods: {}\r\n", fmt::join(rule.methods, ", "));
  if (const auto items = items_of(question.headers); !items.empty()) {
    out += fmt::format("Access-Control-Allow-Headers: {}\r\n", fmt::join(items, ", "));
  }
  if (!rule.exposed.empty()) {
    out += fmt::format("Access-Control-Expose-Headers: {}\r\n", fmt::join(rule.exposed, ", "));
  }
  if (rule.max_age_seconds) {
    out += fmt::format("Access-Control-Max-Age: {}\r\n", *rule.max_age_seconds);
  }
  out += "Vary: Origin, Access-Control-Request-Headers, Access-Control-Request-Method\r\n";
  return out;
}

}  // namespace leat::cors
