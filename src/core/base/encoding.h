// Bytes as text: hexadecimal and base64 (RFC 4648 §4).
//
// Reading is strict: one spelling of a value and no other, because digests and signatures that are
// compared or stored as text must not have two forms.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace leat {

// Lower case.
std::string to_hex(Bytes bytes);
// Either case. Nothing if `text` has an odd size or another character.
std::optional<std::vector<std::byte>> from_hex(std::string_view text);

// With padding.
std::string to_base64(Bytes bytes);
// Nothing if padding is missing or too long, another character (white space, too) stands in it, or
// the bits that no byte uses are not zero.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace leat
