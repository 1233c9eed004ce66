#include "log/format.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "log/escape.h"

namespace leat::log {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kTime =
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) + 3h + 4min + 5s + 678'999us;
constexpr Style kJson{.format = Format::json};
constexpr Style kText{.format = Format::text};

std::string formatted(Level level, std::string_view event, std::initializer_list<Field> fields,
                      Style style) {
  return format_line({.time = kTime, .level = level, .event = event, .fields = fields}, style);
}

std::string json_of(const Value& value) {
  const std::string line = formatted(Level::info, "e", {{"k", value}}, kJson);
  const std::size_t start = line.find("\"k\":") + 4;
  return line.substr(start, line.size() - start - 2);
}

std::string text_of(const Value& value) {
  const std::string line = formatted(Level::info, "e", {{"k", value}}, kText);
  const std::size_t start = line.find("k=") + 2;
  return line.substr(start, line.size() - start - 1);
}

TEST(Format, WritesJsonLinesWithTimeLevelEventThenFields) {
  EXPECT_EQ(
      formatted(Level::info, "listening", {{"address", "127.0.0.1:9000"}, {"shards", 2}}, kJson),
      R"({"ts":"2026-01-02T03:04:05.678Z","level":"info","event":"listening",)"
      R"("address":"127.0.0.1:9000","shards":2})"
      "\n");
  EXPECT_EQ(formatted(Level::error, "stop", {}, kJson),
            R"({"ts":"2026-01-02T03:04:05.678Z","level":"error","event":"stop"})"
            "\n");
}

TEST(Format, WritesAlignedText) {
  EXPECT_EQ(formatted(Level::warn, "slow disk", {{"disk", "/data 1"}, {"took", 1500ms}}, kText),
            "2026-01-02T03:04:05.678Z WARN  slow disk                disk=\"/data 1\" took=1.5s\n");
  EXPECT_EQ(formatted(Level::error, "an event longer than its column", {{"n", 1}}, kText),
            "2026-01-02T03:04:05.678Z ERROR an event longer than its column n=1\n");
  EXPECT_EQ(formatted(Level::debug, "bare", {}, kText), "2026-01-02T03:04:05.678Z DEBUG bare\n");
}

TEST(Format, ColoursTextOnlyWhenAsked) {
  EXPECT_EQ(formatted(Level::info, "x", {{"n", 1}}, {.format = Format::text, .colour = true}),
            "\x1b[2m2026-01-02T03:04:05.678Z\x1b[0m \x1b[32mINFO \x1b[0m x                        "
            "\x1b[2mn=\x1b[0m1\n");
}

TEST(Format, ShowsTimesBeforeTheEpochAndSmallYears) {
  const WallTime before = WallTime{} - 1ns;
  const std::string line = format_line({before, Level::info, "e", {}}, kText);
  EXPECT_TRUE(line.starts_with("1969-12-31T23:59:59.999Z")) << line;
}

TEST(Format, WritesEveryKindOfValue) {
  const Error error(Errc::not_found, "open \"x\"");
  EXPECT_EQ(json_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(json_of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(json_of(0.25), "0.25");
  EXPECT_EQ(json_of(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(json_of(true), "true");
  EXPECT_EQ(json_of(1500us), "0.0015");
  EXPECT_EQ(json_of(error), R"("not_found: open \"x\"")");
  EXPECT_EQ(json_of(std::string("text")), "\"text\"");

  EXPECT_EQ(text_of(-3), "-3");
  EXPECT_EQ(text_of(0.25F), "0.25");
  EXPECT_EQ(text_of(false), "false");
  EXPECT_EQ(text_of(error), R"("not_found: open \"x\"")");
  EXPECT_EQ(text_of(""), "\"\"");
  EXPECT_EQ(text_of("a=b"), "\"a=b\"");
}

TEST(Format, ChoosesAUnitForDurationsInText) {
  EXPECT_EQ(text_of(0s), "0s");
  EXPECT_EQ(text_of(999ns), "999ns");
  EXPECT_EQ(text_of(1500ns), "1.5us");
  EXPECT_EQ(text_of(-20ms), "-20ms");
  EXPECT_EQ(text_of(2h), "7200s");
}

TEST(Escape, MakesControlCharactersHarmless) {
  EXPECT_EQ(json_of(std::string_view("a\n\r\t\"\\\x01\x1b[31m\x7f\0z", 15)),
            R"("a\n\r\t\"\\\u0001\u001b[31m\u007f\u0000z")");
  EXPECT_EQ(json_of("\xc2\x9b"), R"("\u009b")");
  EXPECT_EQ(json_of("\xc2\xa0"), "\"\xc2\xa0\"");
  EXPECT_EQ(formatted(Level::info, "two\nlines", {{"k\n", "\x1b[2J"}}, kText),
            "2026-01-02T03:04:05.678Z INFO  two\\nlines               k\\n=\"\\u001b[2J\"\n");
}

TEST(Escape, KeepsWellFormedUtf8AndReplacesTheRest) {
  struct Case {
    std::string_view bytes;
    std::string_view escaped;
  };
  const std::vector<Case> cases = {
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
      {"\xe2\x82\xac \xf0\x9f\x90\x8d", "\xe2\x82\xac \xf0\x9f\x90\x8d"},
      {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
      {"\xff", "\\ufffd"},                                   // never a byte of UTF-8
      {"\x80", "\\ufffd"},                                   // a continuation alone
      {"\xc3", "\\ufffd"},                                   // cut off
      {"\xc3(", "\\ufffd("},                                 // not continued
      {"\xc0\xaf", "\\ufffd\\ufffd"},                        // overlong
      {"\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd"},             // overlong
      {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},             // a surrogate
      {"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},  // above U+10FFFF
      {"\xe2\x82", "\\ufffd\\ufffd"},
  };
  for (const Case& c : cases) {
    std::string out;
    append_escaped(out, c.bytes);
    EXPECT_EQ(out, c.escaped);
  }
}

TEST(Redaction, HidesSecretsInBothFormats) {
  const Secret key("wJalrXUtn");
  EXPECT_EQ(json_of(key), "\"[redacted]\"");
  EXPECT_EQ(text_of(key), "[redacted]");
  EXPECT_EQ(key.reveal(), "wJalrXUtn");
}

TEST(Redaction, HidesFieldsWhoseKeySoundsSecretWhateverTheirType) {
  const Error error(Errc::denied, "hunter2");
  const std::string line = formatted(Level::info, "e",
                                     {{"Authorization", "hunter2"},
                                      {"session_TOKEN", 7},
                                      {"password", true},
                                      {"x-amz-signature", 1.5},
                                      {"aws_secret_key", error},
                                      {"Credentials", 3s},
                                      {"bucket", "photos"}},
                                     kText);
  EXPECT_EQ(line,
            "2026-01-02T03:04:05.678Z INFO  e                        Authorization=[redacted] "
            "session_TOKEN=[redacted] password=[redacted] x-amz-signature=[redacted] "
            "aws_secret_key=[redacted] Credentials=[redacted] bucket=photos\n");
}

TEST(Redaction, DoesNotHideOrdinaryKeys) {
  for (const char* key : {"key", "secre", "path", "signed", "", "author"}) {
    EXPECT_FALSE(names_a_secret(key)) << key;
  }
}

}  // namespace
}  // namespace leat::log
