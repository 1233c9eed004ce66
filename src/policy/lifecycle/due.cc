// When rules fall due.
#include <algorithm>

#include "lifecycle/lifecycle.h"

namespace leat::lifecycle {
namespace {

bool fits(const Filter& filter, const Object& object) {
  if (!object.key.starts_with(filter.prefix)) return false;
  if (filter.larger_than && object.size_bytes <= *filter.larger_than) return false;
  if (filter.less_than && object.size_bytes >= *filter.less_than) return false;
  return std::ranges::all_of(filter.tags, [&](const Tag& tag) {
    return std::ranges::find(object.tags, tag) != object.tags.end();
  });
}

// The first midnight that is so many days or more behind a time.
std::int64_t midnight_after(std::int64_t since_ms, std::uint32_t days, std::int64_t day_ms) {
  const std::int64_t whole = since_ms / day_ms + (since_ms % day_ms > 0 ? 1 : 0);
  return (whole + days) * day_ms;
}

void take_earlier(std::optional<Expiry>& best, std::int64_t at_ms, const Rule& rule) {
  if (!best || at_ms < best->at_ms) best = Expiry{.at_ms = at_ms, .rule = rule.id};
}

bool expires(const Rule& rule) {
  return rule.is_enabled && (rule.expire_days || rule.expire_at_ms);
}

}  // namespace

std::optional<Expiry> expiry_of(std::span<const Rule> rules, const Object& object,
                                std::int64_t day_ms) {
  std::optional<Expiry> best;
  for (const Rule& rule : rules) {
    if (!expires(rule) || !fits(rule.filter, object)) continue;
    if (rule.expire_days) {
      take_earlier(best, midnight_after(object.modified_ms, *rule.expire_days, day_ms), rule);
    }
    if (rule.expire_at_ms) take_earlier(best, *rule.expire_at_ms, rule);
  }
  return best;
}

std::optional<Expiry> abort_of(std::span<const Rule> rules, std::string_view key,
                               std::int64_t begun_ms, std::int64_t day_ms) {
  std::optional<Expiry> best;
  for (const Rule& rule : rules) {
    if (!rule.is_enabled || !rule.abort_days || !key.starts_with(rule.filter.prefix)) continue;
    take_earlier(best, midnight_after(begun_ms, *rule.abort_days, day_ms), rule);
  }
  return best;
}

std::optional<Expiry> expiry_of(std::span<const Rule> rules, const PastVersion& version,
                                std::int64_t day_ms) {
  std::optional<Expiry> best;
  for (const Rule& rule : rules) {
    if (!rule.is_enabled || !rule.noncurrent_days || !fits(rule.filter, version.object)) continue;
    if (version.newer < rule.newer_noncurrent.value_or(0)) continue;
    take_earlier(best, midnight_after(version.replaced_ms, *rule.noncurrent_days, day_ms), rule);
  }
  return best;
}

bool removes_lonely_marker(std::span<const Rule> rules, std::string_view key) {
  return std::ranges::any_of(rules, [key](const Rule& rule) {
    return rule.is_enabled && rule.removes_lonely_markers && fits(rule.filter, {.key = key});
  });
}

std::string common_prefix(std::span<const Rule> rules) {
  std::optional<std::string> common;
  for (const Rule& rule : rules) {
    if (!expires(rule)) continue;
    const std::string& prefix = rule.filter.prefix;
    if (!common) common = prefix;
    const auto [end, ignored] = std::ranges::mismatch(*common, prefix);
    common->erase(end, common->end());
  }
  return common.value_or("");
}

bool expires_objects(std::span<const Rule> rules) {
  return std::ranges::any_of(rules, expires);
}

bool aborts_uploads(std::span<const Rule> rules) {
  return std::ranges::any_of(
      rules, [](const Rule& rule) { return rule.is_enabled && rule.abort_days.has_value(); });
}

}  // namespace leat::lifecycle
