#include "xml/writer.h"

#include <array>
#include <charconv>

#include "base/check.h"
#include "xml/unicode.h"

namespace leat::xml {
namespace {

// What stands for a character of ASCII; empty if it stands for itself.
constexpr std::string_view named_reference(char c) {
  switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&apos;";
    default: return {};
  }
}

constexpr bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && named_reference(c).empty();
}

void append_number(std::string& out, std::uint64_t number, int base) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
  out.append(digits.data(), end);
}

void append_point(std::string& out, std::string_view bytes, CodePoint point) {
  if (point.size == 0) {
    out.append("\xEF\xBF\xBD");  // U+FFFD
  } else if (point.value < 0x20 || point.value == 0x7f || !is_xml_char(point.value)) {
    // Tab, LF and CR, too: a parser would change them.
    out.append("&#x");
    append_number(out, point.value, 16);
    out.push_back(';');
  } else {
    out.append(bytes.substr(0, point.size));
  }
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain]))
      ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    if (const std::string_view name = named_reference(text.front()); !name.empty()) {
      out.append(name);
      text.remove_prefix(1);
      continue;
    }
    const CodePoint point = first_code_point(text);
    append_point(out, text, point);
    text.remove_prefix(point.size == 0 ? 1 : point.size);
  }
}

Writer::Writer(std::string& out) : out_(out) {
  out_.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
}

void Writer::open(std::string_view name, std::span<const Attribute> attributes) {
  out_.append("<").append(name);
  for (const Attribute& attribute : attributes) {
    out_.append(" ").append(attribute.name).append("=\"");
    append_escaped(out_, attribute.value);
    out_.push_back('"');
  }
  out_.push_back('>');
  open_.push_back(name);
}

void Writer::open(std::string_view name, std::string_view name_space) {
  const Attribute attribute{.name = "xmlns", .value = name_space};
  open(name, {&attribute, 1});
}

void Writer::close() {
  LEAT_CHECK(!open_.empty());
  out_.append("</").append(open_.back()).append(">");
  open_.pop_back();
}

void Writer::element(std::string_view name, std::string_view text) {
  open(name);
  append_escaped(out_, text);
  close();
}

void Writer::element(std::string_view name, std::uint64_t number) {
  open(name);
  append_number(out_, number, 10);
  close();
}

}  // namespace leat::xml
