// From the text of a value to the value. Strict: no surrounding spaces, no silent truncation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/setting.h"

namespace leat::config {

// The alternatives stand in the order of Kind.
using Value = std::variant<std::string, std::int64_t, bool, std::uint64_t, Duration,
                           std::vector<std::string>>;

// Errors of all: bad_request, whose detail says what was expected.
Result<Value> parse_value(Kind kind, std::string_view text);
Result<std::int64_t> parse_integer(std::string_view text);
Result<bool> parse_boolean(std::string_view text);
// A number, then nothing, B, KiB, MiB, GiB, TiB (powers of 1024) or kB, KB, MB, GB, TB (of 1000).
Result<std::uint64_t> parse_bytes(std::string_view text);
// A number and ns, us, ms, s, m, h or d. The unit is required: 30 what?
Result<Duration> parse_duration(std::string_view text);
// Items between commas, without the spaces around them. The empty text is the empty list.
Result<std::vector<std::string>> parse_list(std::string_view text);

}  // namespace leat::config
