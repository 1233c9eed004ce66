// Writer appends XML to a string, element by element, with everything escaped.
//
// Characters that XML 1.0 cannot hold (most control characters) are written as numeric references,
// as S3 does: "&#x1;". Strict parsers refuse those, which is why listings have encoding-type=url.
// Bytes that are no UTF-8 become U+FFFD: the document stays one.
//
//   Writer xml(out);
//   xml.open("ListBucketResult", kNamespace);
//   xml.element("Name", bucket);
//   xml.close();
//
// Lifetime: the string outlives the writer; names are constants of the program.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::xml {

// Appends `text` as the content of an element or of a quoted attribute.
void append_escaped(std::string& out, std::string_view text);

struct Attribute {
  std::string_view name;
  std::string_view value;
};

class Writer {
 public:
  // Starts with the XML declaration.
  explicit Writer(std::string& out);

  void open(std::string_view name, std::span<const Attribute> attributes = {});
  // With xmlns="name_space".
  void open(std::string_view name, std::string_view name_space);
  // Requires: an element is open. Closes the innermost one.
  void close();

  // <name>text</name>
  void element(std::string_view name, std::string_view text);
  void element(std::string_view name, const char* text) { element(name, std::string_view(text)); }
  void element(std::string_view name, std::uint64_t number);
  void element(std::string_view name, std::same_as<bool> auto truth) {
    element(name, truth ? std::string_view("true") : std::string_view("false"));
  }

 private:
  std::string& out_;
  std::vector<std::string_view> open_;
};

}  // namespace leat::xml
