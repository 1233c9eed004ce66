// Lifecycle rules from XML and back.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>

#include "lifecycle/lifecycle.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::lifecycle {
namespace {

using s3error::refuse;
using s3error::S3Code;
using s3error::S3Result;
using s3error::S3Status;

constexpr std::size_t kIdMax = 255;
constexpr std::size_t kPrefixMax = 1024;
constexpr std::size_t kTagsMax = 10;
constexpr std::uint32_t kDaysMax = 36'500;  // a hundred years

std::unexpected<s3error::S3Error> malformed() {
  return refuse(S3Code::malformed_xml,
                "The XML you provided was not well-formed or did not validate against our "
                "published schema");
}

template <class T>
std::optional<T> number_in(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

S3Result<std::uint32_t> days_in(xml::Element element) {
  const auto days = number_in<std::int64_t>(element.text());
  if (!days) return malformed();
  if (*days < 1 || *days > kDaysMax) {
    return refuse(
        S3Code::invalid_argument,
        fmt::format("'{}' must be a positive integer, at most {}", element.name(), kDaysMax));
  }
  return static_cast<std::uint32_t>(*days);
}

// "2027-01-01" or "2027-01-01T00:00:00[.000]Z" (or +00:00, which SDKs write): midnight only.
S3Result<std::int64_t> date_in(std::string_view text) {
  const auto year = number_in<int>(text.substr(0, 4));
  const bool has_dashes = text.size() >= 10 && text[4] == '-' && text[7] == '-';
  const auto month = has_dashes ? number_in<unsigned>(text.substr(5, 2)) : std::nullopt;
  const auto day = has_dashes ? number_in<unsigned>(text.substr(8, 2)) : std::nullopt;
  if (!year || !month || !day) return malformed();
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  if (!date.ok() || *year < 1970) return malformed();
  std::string_view time = text.substr(10);
  for (const std::string_view zone : {"Z", "+00:00"}) {
    if (time.ends_with(zone)) {
      time.remove_suffix(zone.size());
      break;
    }
  }
  if (!time.empty() && time != "T00:00:00" && time != "T00:00:00.000") {
    return refuse(S3Code::invalid_argument, "'Date' must be at midnight GMT");
  }
  return std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * kDayMs;
}

S3Result<Tag> tag_in(xml::Element element) {
  const auto key = element.need_one("Key");
  const auto value = element.need_one("Value");
  if (!key || !value || key->text().empty()) return malformed();
  return Tag{key->text(), value->text()};
}

// A child of <Filter> or of its <And>.
S3Status read_criterion(xml::Element child, Filter& filter) {
  const auto is = [&](std::string_view name) { return child.name() == name; };
  if (is("Prefix")) {
    if (child.text().size() > kPrefixMax || !filter.prefix.empty()) return malformed();
    filter.prefix = child.text();
  } else if (is("Tag")) {
    LEAT_TRY(Tag tag, tag_in(child));
    const auto has_key = [&](const Tag& other) { return other.first == tag.first; };
    if (filter.tags.size() == kTagsMax || std::ranges::any_of(filter.tags, has_key)) {
      return refuse(S3Code::invalid_request, "Duplicate Tag Keys are not allowed.");
    }
    filter.tags.push_back(std::move(tag));
  } else if (is("ObjectSizeGreaterThan") && !filter.larger_than) {
    filter.larger_than = number_in<std::uint64_t>(child.text());
    if (!filter.larger_than) return malformed();
  } else if (is("ObjectSizeLessThan") && !filter.less_than) {
    filter.less_than = number_in<std::uint64_t>(child.text());
    if (!filter.less_than) return malformed();
  } else {
    return malformed();
  }
  return {};
}

S3Status read_filter(xml::Element element, Filter& filter) {
  std::size_t count = 0;
  for (const xml::Element child : element.children()) {
    if (++count > 1) return malformed();  // several belong into <And>
    if (child.name() != "And") {
      LEAT_DO(read_criterion(child, filter));
      continue;
    }
    for (const xml::Element inside : child.children())
      LEAT_DO(read_criterion(inside, filter));
  }
  if (filter.larger_than && filter.less_than && *filter.larger_than >= *filter.less_than) {
    return refuse(S3Code::invalid_request,
                  "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'.");
  }
  return {};
}

S3Status read_expiration(xml::Element element, Rule& rule) {
  std::size_t count = 0;
  for (const xml::Element child : element.children()) {
    if (++count > 1) return malformed();
    if (child.name() == "Days") {
      LEAT_TRY(rule.expire_days, days_in(child));
    } else if (child.name() == "Date") {
      LEAT_TRY(rule.expire_at_ms, date_in(child.text()));
    } else if (child.name() == "ExpiredObjectDeleteMarker") {
      if (child.text() != "true" && child.text() != "false") return malformed();
      rule.removes_lonely_markers = child.text() == "true";
    } else {
      return malformed();
    }
  }
  return count == 1 ? S3Status() : malformed();
}

S3Status read_noncurrent(xml::Element element, Rule& rule) {
  for (const xml::Element child : element.children()) {
    if (child.name() == "NoncurrentDays" && !rule.noncurrent_days) {
      LEAT_TRY(rule.noncurrent_days, days_in(child));
    } else if (child.name() == "NewerNoncurrentVersions" && !rule.newer_noncurrent) {
      LEAT_TRY(rule.newer_noncurrent, days_in(child));
    } else {
      return malformed();
    }
  }
  return rule.noncurrent_days ? S3Status() : malformed();
}

S3Status read_abort(xml::Element element, Rule& rule) {
  const auto days = element.need_one("DaysAfterInitiation");
  if (!days) return malformed();
  LEAT_TRY(rule.abort_days, days_in(*days));
  return {};
}

S3Status check(const Rule& rule) {
  const bool expires = rule.expire_days || rule.expire_at_ms || rule.removes_lonely_markers;
  if (!expires && !rule.abort_days && !rule.noncurrent_days) {
    return refuse(S3Code::invalid_request, "At least one action needs to be specified in a rule");
  }
  const bool has_sizes = rule.filter.larger_than || rule.filter.less_than;
  if (rule.abort_days && (!rule.filter.tags.empty() || has_sizes)) {
    return refuse(S3Code::invalid_request,
                  "AbortIncompleteMultipartUpload cannot be specified with Tags or sizes.");
  }
  if (rule.removes_lonely_markers && (!rule.filter.tags.empty() || has_sizes)) {
    return refuse(S3Code::invalid_request,
                  "ExpiredObjectDeleteMarker cannot be specified with Tags or sizes.");
  }
  return {};
}

S3Result<Rule> rule_in(xml::Element element) {
  Rule rule;
  if (element.name() != "Rule") return malformed();
  std::set<std::string_view> seen;
  for (const xml::Element child : element.children()) {
    const std::string_view name = child.name();
    if (name == "Transition" || name == "NoncurrentVersionTransition") {
      return refuse(S3Code::not_implemented, "There is one storage class: nothing to move to.");
    }
    if (!seen.insert(name).second) return malformed();
    if (name == "ID") {
      if (child.text().size() > kIdMax) {
        return refuse(S3Code::invalid_argument, "ID length should not exceed allowed limit of 255");
      }
      rule.id = child.text();
    } else if (name == "Status") {
      if (child.text() != "Enabled" && child.text() != "Disabled") return malformed();
      rule.is_enabled = child.text() == "Enabled";
    } else if (name == "Filter") {
      LEAT_DO(read_filter(child, rule.filter));
    } else if (name == "Prefix") {
      LEAT_DO(read_criterion(child, rule.filter));
    } else if (name == "Expiration") {
      LEAT_DO(read_expiration(child, rule));
    } else if (name == "NoncurrentVersionExpiration") {
      LEAT_DO(read_noncurrent(child, rule));
    } else if (name == "AbortIncompleteMultipartUpload") {
      LEAT_DO(read_abort(child, rule));
    } else {
      return malformed();
    }
  }
  if (!seen.contains("Status") || seen.contains("Filter") == seen.contains("Prefix")) {
    return malformed();
  }
  LEAT_DO(check(rule));
  return rule;
}

// Every rule has a name of its own.
S3Status name_rules(std::vector<Rule>& rules) {
  std::set<std::string> names;
  for (const Rule& rule : rules) {
    if (rule.id.empty() || names.insert(rule.id).second) continue;
    return refuse(
        S3Code::invalid_argument,
        fmt::format("Rule ID must be unique. Found same ID for one or more rules: {}", rule.id));
  }
  std::size_t number = 0;
  for (Rule& rule : rules) {
    while (rule.id.empty()) {
      std::string name = fmt::format("rule-{}", ++number);
      if (names.insert(name).second) rule.id = std::move(name);
    }
  }
  return {};
}

std::string date_text(std::int64_t ms) {
  const std::chrono::sys_days day{std::chrono::days(ms / kDayMs)};
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}T00:00:00.000Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

void write_criteria(xml::Writer& xml, const Filter& filter) {
  if (!filter.prefix.empty()) xml.element("Prefix", filter.prefix);
  for (const auto& [key, value] : filter.tags) {
    xml.open("Tag");
    xml.element("Key", key);
    xml.element("Value", value);
    xml.close();
  }
  if (filter.larger_than) xml.element("ObjectSizeGreaterThan", *filter.larger_than);
  if (filter.less_than) xml.element("ObjectSizeLessThan", *filter.less_than);
}

void write_filter(xml::Writer& xml, const Filter& filter) {
  const std::size_t count = filter.tags.size() + (filter.larger_than ? 1 : 0) +
                            (filter.less_than ? 1 : 0) + (filter.prefix.empty() ? 0 : 1);
  xml.open("Filter");
  if (count == 0) xml.element("Prefix", "");
  if (count > 1) xml.open("And");
  write_criteria(xml, filter);
  if (count > 1) xml.close();
  xml.close();
}

void write_rule(xml::Writer& xml, const Rule& rule) {
  xml.open("Rule");
  xml.element("ID", rule.id);
  write_filter(xml, rule.filter);
  xml.element("Status", rule.is_enabled ? "Enabled" : "Disabled");
  if (rule.expire_days || rule.expire_at_ms || rule.removes_lonely_markers) {
    xml.open("Expiration");
    if (rule.expire_days) xml.element("Days", std::uint64_t{*rule.expire_days});
    if (rule.expire_at_ms) xml.element("Date", date_text(*rule.expire_at_ms));
    if (rule.removes_lonely_markers) xml.element("ExpiredObjectDeleteMarker", "true");
    xml.close();
  }
  if (rule.noncurrent_days) {
    xml.open("NoncurrentVersionExpiration");
    xml.element("NoncurrentDays", std::uint64_t{*rule.noncurrent_days});
    if (rule.newer_noncurrent) {
      xml.element("NewerNoncurrentVersions", std::uint64_t{*rule.newer_noncurrent});
    }
    xml.close();
  }
  if (rule.abort_days) {
    xml.open("AbortIncompleteMultipartUpload");
    xml.element("DaysAfterInitiation", std::uint64_t{*rule.abort_days});
    xml.close();
  }
  xml.close();
}

}  // namespace

S3Result<std::vector<Rule>> parse_lifecycle(std::string_view xml) {
  const auto document =
      xml::Document::parse(as_bytes(xml), {.size_max_bytes = 2 * kDocumentMaxBytes});
  if (!document || document->root().name() != "LifecycleConfiguration") return malformed();
  std::vector<Rule> rules;
  for (const xml::Element child : document->root().children()) {
    if (rules.size() == kRulesMax) return malformed();
    LEAT_TRY(Rule rule, rule_in(child));
    rules.push_back(std::move(rule));
  }
  if (rules.empty()) return malformed();
  LEAT_DO(name_rules(rules));
  return rules;
}

std::string write_lifecycle(const std::vector<Rule>& rules) {
  std::string out;
  xml::Writer xml(out);
  xml.open("LifecycleConfiguration", "http://s3.amazonaws.com/doc/2006-03-01/");
  for (const Rule& rule : rules)
    write_rule(xml, rule);
  xml.close();
  return out;
}

}  // namespace leat::lifecycle
