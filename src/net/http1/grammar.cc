#include "http1/grammar.h"

#include <bit>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace leat::http1 {
namespace {

bool is_port(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  const auto port = parse_decimal(text);
  return port && *port <= 65535;
}

// What stands between the brackets of "[::1]". Only the alphabet is checked: nobody routes by it.
bool is_ip_literal(std::string_view text) {
  if (text.size() < 2) return false;
  for (const char c : text) {
    if (!hex_digit(c) && c != ':' && c != '.') return false;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::size_t find_control(std::string_view text, std::size_t from) {
#if defined(__SSE2__)
  const __m128i last_control = _mm_set1_epi8(0x1f);
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i del = _mm_set1_epi8(0x7f);
  while (from + 16 <= text.size()) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + from));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i low_not_tab = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, tab), low);
    const __m128i control = _mm_or_si128(low_not_tab, _mm_cmpeq_epi8(bytes, del));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(control));
    if (mask != 0) return from + static_cast<std::size_t>(std::countr_zero(mask));
    from += 16;
  }
#endif
  while (from < text.size() && !has_class(text[from], char_class::kControl))
    ++from;
  return from;
}

bool is_host(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || !is_ip_literal(text.substr(1, close - 1))) return false;
    const std::string_view rest = text.substr(close + 1);
    return rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
  }
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (name.empty() || !all_of_class(name, char_class::kHost)) return false;
  return colon == std::string_view::npos || is_port(text.substr(colon + 1));
}

}  // namespace leat::http1
