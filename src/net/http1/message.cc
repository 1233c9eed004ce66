#include "http1/message.h"

#include <algorithm>

#include "base/check.h"
#include "http1/grammar.h"

namespace leat::http1 {
namespace {

constexpr std::array<std::string_view, kKnownHeaders> kHeaderNames = {
    "authorization",  "connection",
    "content-length", "content-type",
    "expect",         "host",
    "if-match",       "if-modified-since",
    "if-none-match",  "if-unmodified-since",
    "range",          "transfer-encoding",
};

constexpr std::array kMethods = {
    std::pair{Method::get, std::string_view("GET")},
    std::pair{Method::head, std::string_view("HEAD")},
    std::pair{Method::put, std::string_view("PUT")},
    std::pair{Method::post, std::string_view("POST")},
    std::pair{Method::delete_, std::string_view("DELETE")},
    std::pair{Method::options, std::string_view("OPTIONS")},
};

// Which known header a name of this length and first letter can be: at most one.
Header candidate(std::size_t length, char first) {
  switch (length) {
    case 4: return Header::host;
    case 5: return Header::range;
    case 6: return Header::expect;
    case 8: return Header::if_match;
    case 10: return Header::connection;
    case 12: return Header::content_type;
    case 13: return first == 'a' ? Header::authorization : Header::if_none_match;
    case 14: return Header::content_length;
    case 17: return first == 't' ? Header::transfer_encoding : Header::if_modified_since;
    case 19: return Header::if_unmodified_since;
    default: return Header::other;
  }
}

}  // namespace

Method method_from(std::string_view token) {
  for (const auto& [method, text] : kMethods) {
    if (token == text) return method;
  }
  return Method::other;
}

std::string_view text_of(Method method) {
  for (const auto& [known, text] : kMethods) {
    if (known == method) return text;
  }
  return {};
}

Header header_from(std::string_view name) {
  if (name.empty()) return Header::other;
  const char first = to_lower(name.front());
  const Header guess = candidate(name.size(), first);
  if (guess == Header::other) return guess;
  const std::string_view known = kHeaderNames[static_cast<std::size_t>(guess)];
  if (known.front() != first) return Header::other;
  return equals_ignore_case(name, known) ? guess : Header::other;
}

std::optional<std::string_view> HeaderBlock::find(Header known) const {
  const Known& entry = known_[index_of(known)];
  if (known == Header::other || entry.count == 0) return std::nullopt;
  return (*this)[entry.first].value;
}

std::optional<std::string_view> HeaderBlock::find(std::string_view name) const {
  const Header known = header_from(name);
  if (known != Header::other) return find(known);
  for (const HeaderField field : *this) {
    if (equals_ignore_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::size_t HeaderBlock::count(std::string_view name) const {
  const auto same = [name](HeaderField field) { return equals_ignore_case(field.name, name); };
  std::size_t found = 0;
  for (const HeaderField field : *this)
    found += same(field) ? 1 : 0;
  return found;
}

void HeaderBlock::clear() {
  text_ = nullptr;
  size_ = 0;
  known_.fill({});
}

Status HeaderBlock::add_line(std::string_view text, Line line, std::size_t fields_max) {
  LEAT_CHECK(line.end <= text.size() && text.size() <= kTextMax);
  if (size_ >= std::min(fields_max, kCapacity)) {
    return fail(Errc::head_too_large, "too many header fields");
  }
  std::size_t at = line.begin;
  while (at < line.end && is_token_char(text[at]))
    ++at;
  const std::string_view name = text.substr(line.begin, at - line.begin);
  if (at == line.end) return fail(Errc::bad_request, "header line without a colon");
  if (text[at] != ':') {
    return name.empty() && is_ows(text[at])
               ? fail(Errc::bad_request, "header line starts with white space (folded line)")
               : fail(Errc::bad_request, "character that is not allowed in a header name");
  }
  if (name.empty()) return fail(Errc::bad_request, "empty header name");

  const std::string_view value = trim_ows(text.substr(at + 1, line.end - at - 1));
  const auto value_begin = static_cast<std::size_t>(value.data() - text.data());
  slots_[size_] = {
      .name_begin = static_cast<std::uint16_t>(line.begin),
      .name_size = static_cast<std::uint16_t>(name.size()),
      .value_begin = static_cast<std::uint16_t>(value_begin),
      .value_size = static_cast<std::uint16_t>(value.size()),
  };
  Known& known = known_[index_of(header_from(name))];
  if (known.count == 0) known.first = static_cast<std::uint8_t>(size_);
  ++known.count;
  ++size_;
  return {};
}

}  // namespace leat::http1
