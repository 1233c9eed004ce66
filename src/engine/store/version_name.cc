#include "store/version_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace leat::store {
namespace {

constexpr std::string_view kNull = "null";
constexpr std::size_t kDigits = 16;  // of the number and of the time

std::optional<std::uint64_t> parse_digits(std::string_view text) {
  constexpr int kHex = 16;
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, kHex);
  const bool is_lower = std::ranges::none_of(text, [](char c) { return c >= 'A' && c <= 'F'; });
  if (failed != std::errc{} || end != text.data() + text.size() || !is_lower) return std::nullopt;
  return value;
}

}  // namespace

bool VersionName::names(const record::Version& version) const {
  if (is_null == version.is_versioned) return false;
  if (is_null && id.value() == 0) return true;
  return version.id == id && version.modified_ms == modified_ms;
}

std::string to_text(const VersionName& name) {
  if (name.is_null) return std::string(kNull);
  return fmt::format("{:016x}{:016x}", name.id.value(),
                     static_cast<std::uint64_t>(name.modified_ms));
}

VersionName name_of(const record::Version& version) {
  return {.is_null = !version.is_versioned, .id = version.id, .modified_ms = version.modified_ms};
}

std::optional<VersionName> parse_version_name(std::string_view text) {
  if (text == kNull) return VersionName{.is_null = true};
  if (text.size() != 2 * kDigits) return std::nullopt;
  const auto id = parse_digits(text.substr(0, kDigits));
  const auto time = parse_digits(text.substr(kDigits));
  if (!id || !time) return std::nullopt;
  return VersionName{.id = record::VersionId(*id), .modified_ms = static_cast<std::int64_t>(*time)};
}

}  // namespace leat::store
