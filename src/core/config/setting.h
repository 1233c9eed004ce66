// Setting: one thing an operator can set, and its three spellings.
//
// A program describes all of its settings in one constexpr table. From the key
// `http.head_max_bytes` follow the line `head_max_bytes` under `[http]` in leat.toml, the variable
// LEAT_HTTP_HEAD_MAX_BYTES and the flag --http-head-max-bytes, so that none of them can be
// forgotten or differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace leat::config {

enum class Kind : std::uint8_t {
  text,      // any string
  integer,   // a whole number
  boolean,   // true, false, yes, no, on, off, 1, 0
  bytes,     // a size: 512, 64KiB, 10MB
  duration,  // a time with its unit: 250ms, 30s, 5m
  list,      // strings, with commas between them outside TOML
};

// Lifetime: the strings outlive every Config loaded with the setting; literals do.
struct Setting {
  std::string_view key;  // dotted path of lower-case letters, digits and underscores
  Kind kind = Kind::text;
  std::string_view default_text;  // as it would be written in the environment
  std::string_view help;          // one line
  std::string_view flag = {};     // overrides the flag's spelling, dashes included
  bool secret = false;            // the value is never shown
};

std::string flag_name(const Setting& setting);
std::string environment_name(const Setting& setting);

}  // namespace leat::config
