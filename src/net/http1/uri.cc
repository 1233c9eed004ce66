#include "http1/uri.h"

#include <algorithm>

#include "http1/grammar.h"

namespace leat::http1 {
namespace {

bool is_unreserved(char c) {
  return has_class(c, char_class::kHost) || c == '~';  // kHost: letters, digits, '-', '.', '_'
}

}  // namespace

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out.push_back(text[at]);
      continue;
    }
    if (text.size() - at < 3) return fail(Errc::bad_request, "percent escape is cut off");
    const auto high = hex_digit(text[at + 1]);
    const auto low = hex_digit(text[at + 2]);
    if (!high || !low) return fail(Errc::bad_request, "percent escape is not hexadecimal");
    out.push_back(static_cast<char>(*high << 4 | *low));
    at += 2;
  }
  return out;
}

void append_percent_encoded(std::string& out, std::string_view text, Slash slash) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_unreserved(c) || (c == '/' && slash == Slash::keep)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
}

std::string percent_encode(std::string_view text, Slash slash) {
  std::string out;
  out.reserve(text.size());
  append_percent_encoded(out, text, slash);
  return out;
}

Result<std::vector<QueryPair>> parse_query(std::string_view query, std::size_t pairs_max) {
  std::vector<QueryPair> pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view piece = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (piece.empty()) continue;
    if (pairs.size() == pairs_max) return fail(Errc::bad_request, "too many query parameters");
    const std::size_t equals = std::min(piece.find('='), piece.size());
    LEAT_TRY(std::string name, percent_decode(piece.substr(0, equals)));
    const std::string_view raw_value = piece.substr(std::min(equals + 1, piece.size()));
    LEAT_TRY(std::string value, percent_decode(raw_value));
    pairs.push_back({.name = std::move(name), .value = std::move(value)});
  }
  return pairs;
}

}  // namespace leat::http1
