// HTTP dates (RFC 9110 §5.6.7): written as "Sun, 06 Nov 1994 08:49:37 GMT", read in all three
// forms that clients ever sent. No locale, no time zone of the machine, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace leat::http1 {

// The text of an instant, cut to its second, without allocation.
class DateText {
 public:
  static constexpr std::size_t kSize = 29;

  explicit DateText(WallTime time);
  std::string_view text() const { return {text_.data(), text_.size()}; }

 private:
  std::array<char, kSize> text_;
};

// IMF-fixdate, RFC 850 ("Sunday, 06-Nov-94 08:49:37 GMT") or asctime ("Sun Nov  6 08:49:37 1994").
// Years of two digits lie between 1970 and 2069. The name of the day must be one but is not
// compared with the date. Instants that WallTime cannot hold become its first or last second.
std::optional<WallTime> parse_date(std::string_view text);

}  // namespace leat::http1
