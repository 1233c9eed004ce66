// The time of a signature: "20130524T000000Z", UTC, to the second. No clock.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace leat::sigv4 {

std::string format_timestamp(WallTime time);

// Nothing if it is written in any other way, is no date, or lies outside of 1970–2199.
std::optional<WallTime> parse_timestamp(std::string_view text);

}  // namespace leat::sigv4
