// How a log line looks: aligned text for people, JSON Lines for machines. Pure functions.
//
//   2026-01-02T03:04:05.678Z INFO  listening                shards=2
//   {"ts":"2026-01-02T03:04:05.678Z","level":"info","event":"listening","shards":2}
//
// Both are one line and valid UTF-8 whatever the values hold: control characters, which could forge
// lines or drive a terminal, are escaped, and bytes that are no UTF-8 become U+FFFD. A field is
// shown as `[redacted]` if it is a Secret or if its key sounds like one. Durations are seconds in
// JSON and carry a unit in text; errors are their message; a number that JSON cannot hold is null.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "log/field.h"

namespace leat::log {

enum class Level : std::uint8_t { debug, info, warn, error };
enum class Format : std::uint8_t { text, json };

struct Line {
  WallTime time;
  Level level;
  std::string_view event;
  std::span<const Field> fields;
};

struct Style {
  Format format = Format::json;
  bool colour = false;  // of text only
};

// The line with its newline.
std::string format_line(const Line& line, Style style);

// True if a value under this key must not be shown, whatever it is: the key contains secret, token,
// password, authorization, signature or credential, in any case.
bool names_a_secret(std::string_view key);

}  // namespace leat::log
