// Fuzzes the XML reader and writer. Checked of every input:
//   1. what is read obeys the limits, and no element has both text and children;
//   2. what was read, written again, reads back as the same tree;
//   3. the input taken as text, written as an element, is a document, and reads back the same if it
//      is UTF-8 without NUL and noncharacters.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "xml/document.h"
#include "xml/unicode.h"
#include "xml/writer.h"

namespace {

using namespace leat;
using namespace leat::xml;

constexpr Limits kLimits{.size_max_bytes = 1 << 20, .depth_max = 8, .elements_max = 100};

// Writes an element and all below it; returns how many they are.
std::size_t write(Writer& out, const Element& element, std::size_t depth) {
  LEAT_CHECK(depth <= kLimits.depth_max && !element.name().empty());
  std::size_t elements = 1;
  const auto children = element.children();
  if (children.begin() == children.end()) {
    out.element(element.name(), element.text());
    return elements;
  }
  LEAT_CHECK(element.text().empty());
  out.open(element.name());
  for (const Element child : children)
    elements += write(out, child, depth + 1);
  out.close();
  return elements;
}

std::string written(const Document& document) {
  std::string out;
  Writer writer(out);
  LEAT_CHECK(write(writer, document.root(), 1) <= kLimits.elements_max);
  return out;
}

void check_reader(std::string_view text) {
  const auto document = Document::parse(as_bytes(text), kLimits);
  if (!document) {
    const Errc code = document.error().code();
    LEAT_CHECK((code == Errc::bad_request || code == Errc::too_large) &&
               !document.error().detail().empty());
    return;
  }
  const std::string once = written(*document);
  const auto again = Document::parse(as_bytes(once), kLimits);
  LEAT_CHECK(again.has_value());
  LEAT_CHECK(written(*again) == once);
}

bool is_exact(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (point.size == 0 || point.value == 0) return false;
    if (point.value >= 0x20 && !is_xml_char(point.value)) return false;
    text.remove_prefix(point.size);
  }
  return true;
}

void check_writer(std::string_view text) {
  std::string out;
  Writer(out).element("Key", text);
  const auto document = Document::parse(as_bytes(out), kLimits);
  if (is_exact(text)) LEAT_CHECK(document && document->root().text() == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_reader(text);
  check_writer(text);
  return 0;
}
