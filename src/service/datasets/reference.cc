#include "datasets/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

namespace leat::datasets {
namespace {

constexpr std::size_t kNameMax = 512;
constexpr std::size_t kTagMax = 100;

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Two or four digits of `text` at `at`.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  const auto number = number_in(text.substr(at, count));
  if (!number) return std::nullopt;
  return static_cast<int>(*number);
}

// The last millisecond of the day, minute or second that the text names.
std::optional<std::int64_t> moment_in(std::string_view text) {
  using namespace std::chrono;
  constexpr std::size_t kDay = 10;
  constexpr std::size_t kMinute = 16;
  constexpr std::size_t kSecond = 19;
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.size() != kDay && text.size() != kMinute && text.size() != kSecond) return std::nullopt;
  const auto y = digits(text, 0, 4);
  const auto m = digits(text, 5, 2);
  const auto d = digits(text, 8, 2);
  if (!y || !m || !d || text[4] != '-' || text[7] != '-') return std::nullopt;
  const year_month_day date{year(*y), month(static_cast<unsigned>(*m)),
                            day(static_cast<unsigned>(*d))};
  if (!date.ok()) return std::nullopt;
  milliseconds end = sys_days(date).time_since_epoch() + hours(24) - milliseconds(1);
  if (text.size() == kDay) return end.count();
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  if (!hour || !minute || text[10] != 'T' || text[13] != ':' || *hour > 23 || *minute > 59) {
    return std::nullopt;
  }
  end += hours(*hour - 24) + minutes(*minute + 1);
  if (text.size() == kMinute) return end.count();
  const auto second = digits(text, 17, 2);
  if (!second || text[16] != ':' || *second > 59) return std::nullopt;
  return (end + seconds(*second + 1 - 60)).count();
}

bool is_tag_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

// Names stand in JSON, which has no others.
bool is_utf8(std::string_view text) {
  using nlohmann::json;
  const json value = std::string(text);
  return json::parse(value.dump(-1, ' ', false, json::error_handler_t::ignore)) == value;
}

// A dataset keeps its own objects in such a folder, and vacuums it.
bool has_own_folder(std::string_view name) {
  return fmt::format("/{}/", name).find("/_leat/") != std::string::npos;
}

Status check_name(std::string_view name) {
  const auto refuse = [name](std::string_view why) {
    return fail(Errc::bad_request, fmt::format("{:?} is no name of a dataset: {}", name, why));
  };
  if (name.empty()) return refuse("it is empty; write BUCKET/NAME");
  if (name.size() > kNameMax) return refuse("it is too long");
  if (name.front() == '/' || name.back() == '/') return refuse("a slash is at its end");
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; })) {
    return refuse("it has control characters");
  }
  if (!is_utf8(name)) return refuse("it is not UTF-8");
  if (has_own_folder(name)) return refuse("_leat is the folder of a dataset's own objects");
  return {};
}

}  // namespace

Status check_tag(std::string_view tag) {
  const bool is_text =
      !tag.empty() && tag.size() <= kTagMax && std::ranges::all_of(tag, is_tag_letter);
  if (!is_text) {
    return fail(Errc::bad_request,
                fmt::format("{:?} is no tag: letters, digits, '.', '-' and '_'", tag));
  }
  if (number_in(tag) || moment_in(tag)) {
    return fail(Errc::bad_request, fmt::format("{} is no tag: it means a version or a time", tag));
  }
  return {};
}

Result<Reference> parse_reference(std::string_view text) {
  if (text.starts_with("leat://")) text.remove_prefix(7);
  const std::size_t slash = text.find('/');
  if (slash == text.npos || slash == 0) {
    return fail(Errc::bad_request, fmt::format("{:?}: a dataset is named BUCKET/NAME", text));
  }
  Reference reference;
  reference.dataset.bucket = text.substr(0, slash);
  std::string_view rest = text.substr(slash + 1);
  const std::size_t at = rest.rfind('@');
  reference.dataset.name = rest.substr(0, at);
  LEAT_DO(check_name(reference.dataset.name));
  if (reference.dataset.name.find('@') != std::string::npos) {
    return fail(Errc::bad_request, "a name of a dataset has no '@'");
  }
  if (at == rest.npos) return reference;
  rest.remove_prefix(at + 1);
  if (const auto number = number_in(rest)) {
    reference.which = VersionNumber{*number};
  } else if (const auto ms = moment_in(rest)) {
    reference.which = AsOf{*ms};
  } else {
    LEAT_DO(check_tag(rest));
    reference.which = Tag{std::string(rest)};
  }
  return reference;
}

}  // namespace leat::datasets
