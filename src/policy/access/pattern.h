// Patterns of bucket policies and CORS rules: '*' is any text, '?' any character.
#pragma once

#include <cstdint>
#include <string_view>

namespace leat::access {

enum class Case : std::uint8_t { matters, ignored };  // of the letters A to Z

// Linear in memory; no text makes it slower than the product of the two sizes.
bool matches(std::string_view pattern, std::string_view text, Case letters = Case::matters);

}  // namespace leat::access
