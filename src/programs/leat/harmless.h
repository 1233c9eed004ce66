// harmless(): a text as a terminal may show it. Keys, metadata and what services say may hold any
// byte; shown as they are, some would move the cursor or change what was shown before. Pure.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace leat::programs {

// Control characters become \xNN: those of ASCII, and those that UTF-8 writes as C2 80 to C2 9F.
inline std::string harmless(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      shown += fmt::format("\\xc2\\x{:02x}", next);
      ++i;
    } else if (byte < 0x20 || byte == 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace leat::programs
