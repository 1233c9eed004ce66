#include "ingest/shard_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::ingest {
namespace {

constexpr std::string_view kNumber = "{number}";
constexpr std::string_view kId = "{id}";
constexpr std::size_t kPatternMaxBytes = 100;

// Keys that every tool takes as they are; no slash, so that none is in a folder of Leat's own.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  return text.replace(text.find(what), what.size(), by);
}

}  // namespace

Result<ShardName> ShardName::parse(std::string_view pattern) {
  if (!pattern.contains(kNumber) || !pattern.contains(kId) || !pattern.ends_with(".tar")) {
    return fail(Errc::bad_request,
                fmt::format("{}: the name of shards has {} and {} and ends in .tar, such as "
                            "images-{{number}}-{{id}}.tar",
                            pattern, kNumber, kId));
  }
  const std::string rest = replaced(replaced(std::string(pattern), kNumber, ""), kId, "");
  if (!std::ranges::all_of(rest, is_plain) || rest.size() > kPatternMaxBytes) {
    return fail(Errc::bad_request,
                fmt::format("{}: the name of shards has only letters, digits, '.', '-', '_' and "
                            "one {} and {}, at most {} bytes",
                            pattern, kNumber, kId, kPatternMaxBytes));
  }
  return ShardName(pattern);
}

std::string ShardName::key(std::string_view dataset, std::size_t number,
                           std::string_view id) const {
  const std::string numbered = replaced(pattern_, kNumber, fmt::format("{:06}", number));
  return fmt::format("{}/{}", dataset, replaced(numbered, kId, id));
}

}  // namespace leat::ingest
