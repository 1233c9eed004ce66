// Fuzzes parse_range: the first 8 bytes are the size of the object, the rest is the Range field.
// The answer must equal a slow reading of the same rules with 128-bit numbers, and lie in the
// object.
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http1/range.h"

namespace {

using leat::http1::RangeChoice;
using Wide = __int128;

constexpr Wide kMax64 = (Wide(1) << 64) - 1;

// -1 if `text` is not all digits; at most kMax64.
Wide wide_number(const std::string& text) {
  if (text.empty()) return -1;
  Wide value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
    if (value > kMax64) value = kMax64;
  }
  return value;
}

RangeChoice part(Wide first, Wide last) {
  return {RangeChoice::Kind::part, static_cast<std::uint64_t>(first),
          static_cast<std::uint64_t>(last)};
}

RangeChoice reference(const std::string& header, Wide size) {
  const RangeChoice whole;
  const RangeChoice unsatisfiable{.kind = RangeChoice::Kind::unsatisfiable};
  std::string unit;
  for (const char c : header.substr(0, header.find('='))) {
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (header.find('=') == std::string::npos || unit != "bytes") return whole;
  const std::string spec = header.substr(header.find('=') + 1);
  if (spec.find(',') != std::string::npos || spec.find('-') == std::string::npos) return whole;
  const std::string left = spec.substr(0, spec.find('-'));
  const std::string right = spec.substr(spec.find('-') + 1);
  if (left.empty()) {
    const Wide length = wide_number(right);
    if (length < 0) return whole;
    if (length == 0 || size == 0) return unsatisfiable;
    return part(length > size ? 0 : size - length, size - 1);
  }
  const Wide first = wide_number(left);
  const Wide last = right.empty() ? kMax64 : wide_number(right);
  if (first < 0 || last < 0 || last < first) return whole;
  if (first >= size) return unsatisfiable;
  return part(first, last >= size ? size - 1 : last);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t length) {
  std::uint64_t size = 0;
  if (length < sizeof size) return 0;
  std::memcpy(&size, data, sizeof size);
  const std::string header(reinterpret_cast<const char*>(data + sizeof size), length - sizeof size);

  const RangeChoice choice = leat::http1::parse_range(header, size);
  LEAT_CHECK(choice == reference(header, size));
  if (choice.kind == RangeChoice::Kind::part) {
    LEAT_CHECK(choice.first <= choice.last && choice.last < size);
  }
  if (choice.kind != RangeChoice::Kind::whole) {
    std::string text;
    leat::http1::append_content_range(text, choice, size);
    LEAT_CHECK(text.starts_with("bytes ") && text.ends_with("/" + std::to_string(size)));
  }
  return 0;
}
