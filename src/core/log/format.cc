#include "log/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>

#include "log/escape.h"

namespace leat::log {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
// Events of usual length line up; a longer one pushes its own fields to the right.
constexpr std::size_t kEventColumns = 24;

struct LevelLook {
  std::string_view name;
  std::string_view label;  // of equal width
  std::string_view colour;
};
constexpr std::array<LevelLook, 4> kLevels = {{{"debug", "DEBUG", "\x1b[2m"},
                                               {"info", "INFO ", "\x1b[32m"},
                                               {"warn", "WARN ", "\x1b[33m"},
                                               {"error", "ERROR", "\x1b[31m"}}};
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

// RFC 3339 in UTC, to the millisecond.
void append_time(std::string& out, WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                 static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                 clock.seconds().count(), clock.subseconds().count());
}

std::string duration_text(Duration time) {
  struct Unit {
    double nanoseconds;
    std::string_view name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  const auto count = static_cast<double>(time.count());
  const auto* unit =
      std::ranges::find_if(kUnits, [&](const Unit& u) { return std::abs(count) >= u.nanoseconds; });
  if (unit == kUnits.end()) return "0s";
  return fmt::format("{:.6g}{}", count / unit->nanoseconds, unit->name);
}

// Writes one value as JSON.
struct JsonValue {
  std::string& out;

  void operator()(Value::Redacted) const { append_quoted(out, kRedacted); }
  void operator()(std::string_view text) const { append_quoted(out, text); }
  void operator()(std::int64_t number) const { out += fmt::to_string(number); }
  void operator()(std::uint64_t number) const { out += fmt::to_string(number); }
  void operator()(double number) const {
    out += std::isfinite(number) ? fmt::format("{}", number) : "null";
  }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(Duration time) const { (*this)(static_cast<double>(time.count()) / 1e9); }
  void operator()(const Error* error) const { append_quoted(out, error->message()); }
};

// Writes one value as text: bare if it is one plain word, quoted like JSON otherwise.
struct TextValue {
  std::string& out;

  void operator()(Value::Redacted) const { out += kRedacted; }
  void operator()(std::string_view text) const {
    const bool bare = !text.empty() && std::ranges::all_of(text, [](char c) {
      return c > ' ' && c < '\x7f' && c != '"' && c != '\\' && c != '=';
    });
    if (bare) {
      out += text;
    } else {
      append_quoted(out, text);
    }
  }
  void operator()(std::int64_t number) const { out += fmt::to_string(number); }
  void operator()(std::uint64_t number) const { out += fmt::to_string(number); }
  void operator()(double number) const { out += fmt::format("{}", number); }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(Duration time) const { out += duration_text(time); }
  void operator()(const Error* error) const { (*this)(std::string_view(error->message())); }
};

template <class Writer>
void append_value(std::string& out, const Field& field) {
  const Writer write{out};
  if (names_a_secret(field.key)) {
    write(Value::Redacted{});
  } else {
    std::visit(write, field.value.variant());
  }
}

std::string format_json(const Line& line) {
  std::string out = R"({"ts":")";
  append_time(out, line.time);
  out += R"(","level":")";
  out += kLevels[static_cast<std::size_t>(line.level)].name;
  out += R"(","event":)";
  append_quoted(out, line.event);
  for (const Field& field : line.fields) {
    out += ',';
    append_quoted(out, field.key);
    out += ':';
    append_value<JsonValue>(out, field);
  }
  out += "}\n";
  return out;
}

std::string format_text(const Line& line, bool colour) {
  const LevelLook& look = kLevels[static_cast<std::size_t>(line.level)];
  const std::string_view dim = colour ? kDim : "";
  const std::string_view plain = colour ? kPlain : "";
  std::string out(dim);
  append_time(out, line.time);
  out += plain;
  out += ' ';
  out += colour ? look.colour : "";
  out += look.label;
  out += plain;
  out += ' ';
  const std::size_t start = out.size();
  append_escaped(out, line.event);
  if (!line.fields.empty()) {
    out.resize(std::max(out.size(), start + kEventColumns), ' ');
  }
  for (const Field& field : line.fields) {
    out += ' ';
    out += dim;
    append_escaped(out, field.key);
    out += '=';
    out += plain;
    append_value<TextValue>(out, field);
  }
  out += '\n';
  return out;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string format_line(const Line& line, Style style) {
  return style.format == Format::json ? format_json(line) : format_text(line, style.colour);
}

bool names_a_secret(std::string_view key) {
  constexpr std::array<std::string_view, 6> kWords = {"secret",        "token",     "password",
                                                      "authorization", "signature", "credential"};
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    return !std::ranges::search(key, word, {}, lower).empty();
  });
}

}  // namespace leat::log
