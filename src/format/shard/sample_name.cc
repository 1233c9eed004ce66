#include "shard/sample_name.h"

#include <algorithm>

namespace leat::shard {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kMark = "__";

// The pattern __[^/]*__($|/) at the start of the name; `$` also matches before a last line feed.
bool is_metadata(std::string_view name) {
  const auto is_marked = [](std::string_view part) {
    return part.size() >= 4 && part.starts_with(kMark) && part.ends_with(kMark);
  };
  const std::size_t slash = name.find('/');
  if (is_marked(name.substr(0, slash))) return true;
  return slash == kNone && name.ends_with('\n') && is_marked(name.substr(0, name.size() - 1));
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

// The pattern is ^((?:.*/|)[^.]+)[.]([^/]*)$. The field holds no slash, so its dot stands in the
// last component, and it is the first one there: [^.]+ cannot pass over a dot. What is left to
// decide is whether some folder part, `.*/` or nothing, leaves at least one byte and no dot before
// that dot; the longest one leaves the least. `.*` does not pass over a line feed, and [^.]+ may
// hold slashes: so `d/.h` has the key `d/`.
std::optional<SampleName> split_name(std::string_view member_name) {
  if (is_metadata(member_name)) return std::nullopt;
  const std::size_t last_slash = member_name.rfind('/');
  const std::size_t dot = member_name.find('.', last_slash == kNone ? 0 : last_slash + 1);
  if (dot == kNone || dot == 0) return std::nullopt;

  const std::string_view key = member_name.substr(0, dot);
  const std::string_view line = key.substr(0, std::min(key.find('\n'), dot - 1));
  const std::size_t folder_end = line.rfind('/');
  const std::size_t rest = folder_end == kNone ? 0 : folder_end + 1;
  if (key.substr(rest).contains('.')) return std::nullopt;

  SampleName result{.key = key, .field = std::string(member_name.substr(dot + 1))};
  std::ranges::transform(result.field, result.field.begin(), lower);
  return result;
}

}  // namespace leat::shard
