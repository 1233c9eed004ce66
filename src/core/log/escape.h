// Makes any bytes safe inside a JSON string, and inside a terminal. The result is valid UTF-8
// without control characters.
#pragma once

#include <string>
#include <string_view>

namespace leat::log {

// Appends `text` with quotes, backslashes and control characters (C0, DEL, C1) escaped as JSON does
// it, and U+FFFD for each byte that is not part of well-formed UTF-8.
void append_escaped(std::string& out, std::string_view text);

// The same between double quotes.
void append_quoted(std::string& out, std::string_view text);

}  // namespace leat::log
