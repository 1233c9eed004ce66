#include "xml/gate.h"

#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include "xml/unicode.h"

namespace leat::xml {
namespace {

constexpr std::array<std::string_view, 5> kEntities = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};

Status check_characters(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (point.size == 0) return fail(Errc::bad_request, "XML is not UTF-8");
    if (!is_xml_char(point.value)) {
      return fail(Errc::bad_request, "character that XML 1.0 does not allow");
    }
    text.remove_prefix(point.size);
  }
  return {};
}

// "&#10;" or "&#xA;". Control characters are let in this way, because S3 lets keys with them out
// so; XML 1.1 has them, too.
bool is_character_reference(std::string_view reference) {
  reference.remove_prefix(2);
  reference.remove_suffix(1);
  const bool hexadecimal = reference.starts_with('x');
  if (hexadecimal) reference.remove_prefix(1);
  std::uint32_t value = 0;
  const char* const begin = std::to_address(reference.begin());
  const char* const end = std::to_address(reference.end());
  const auto parsed = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  return value != 0 && (value < 0x20 || is_xml_char(value));
}

// The size of the reference that `text` starts with; 0 if it is none that is allowed.
std::size_t reference_size(std::string_view text) {
  for (const std::string_view entity : kEntities) {
    if (text.starts_with(entity)) return entity.size();
  }
  constexpr std::size_t kLongest = std::string_view("&#x0010FFFF;").size();
  const std::size_t end = text.substr(0, kLongest).find(';');
  if (!text.starts_with("&#") || end == std::string_view::npos) return 0;
  return is_character_reference(text.substr(0, end + 1)) ? end + 1 : 0;
}

// The size of a comment or CDATA section at the start of `text`; 0 if it is something else or has
// no end.
std::size_t section_size(std::string_view text) {
  for (const auto& [begin, end] :
       {std::pair<std::string_view, std::string_view>{"<!--", "-->"}, {"<![CDATA[", "]]>"}}) {
    if (!text.starts_with(begin)) continue;
    const std::size_t at = text.find(end, begin.size());
    return at == std::string_view::npos ? 0 : at + end.size();
  }
  return 0;
}

bool is_declaration(std::string_view text) {
  return text.starts_with("<?xml ") || text.starts_with("<?xml\t") || text.starts_with("<?xml\n") ||
         text.starts_with("<?xml\r");
}

}  // namespace

Status check_gate(std::string_view text, std::size_t elements_max) {
  LEAT_DO(check_characters(text));
  std::size_t elements = 0;
  std::size_t at = 0;
  while ((at = text.find_first_of("<&", at)) != std::string_view::npos) {
    const std::string_view rest = text.substr(at);
    std::size_t size = 1;
    if (rest.starts_with('&')) {
      size = reference_size(rest);
      if (size == 0) return fail(Errc::bad_request, "unknown entity in XML");
    } else if (rest.starts_with("<!")) {
      size = section_size(rest);
      if (size == 0) return fail(Errc::bad_request, "XML with a document type");
    } else if (rest.starts_with("<?")) {
      if (at != 0 || !is_declaration(rest)) {
        return fail(Errc::bad_request, "XML with a processing instruction");
      }
    } else if (!rest.starts_with("</") && ++elements > elements_max) {
      return fail(Errc::too_large, "XML with too many elements");
    }
    at += size;
  }
  return {};
}

}  // namespace leat::xml
