// Numbers as text, and texts that are checked.
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "decode/decode.h"
#include "xml/unicode.h"

namespace leat::decode {
namespace {

constexpr std::size_t kDigitsMax = 64;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

template <class Number>
Status read_number(std::string_view text, std::string_view kind, std::span<std::uint8_t> target) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  const bool is_good =
      !text.empty() && text.size() <= kDigitsMax && error == std::errc() && stopped == end;
  if (!is_good) return fail(Errc::bad_request, "this is no " + std::string(kind));
  std::memcpy(target.data(), &value, sizeof(value));
  return {};
}

}  // namespace

Status decode_number(Bytes bytes, const Options& options, std::span<std::uint8_t> target) {
  LEAT_CHECK(target.size() == size_of(options));
  std::string_view text = as_text(bytes);
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  switch (options.dtype) {
    case Dtype::int32: return read_number<std::int32_t>(text, "whole number of 32 bits", target);
    case Dtype::float32: return read_number<float>(text, "number that a float32 holds", target);
    case Dtype::float64: return read_number<double>(text, "number that a float64 holds", target);
    default: return read_number<std::int64_t>(text, "whole number of 64 bits", target);
  }
}

Status check_text(Bytes bytes, const Options& options) {
  const std::string_view text = as_text(bytes);
  if (options.to == To::text && !xml::is_utf8(text)) {
    return fail(Errc::bad_request, "this is no text in UTF-8");
  }
  if (options.to == To::json && !nlohmann::json::accept(text)) {
    return fail(Errc::bad_request, "this is no JSON");
  }
  return {};
}

}  // namespace leat::decode
