#include "capi/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/nearest.h"

namespace leat::capi {

using nlohmann::json;

Result<Options> Options::of(const json& document, std::string_view where,
                            std::span<const std::string_view> known) {
  if (!document.is_object()) {
    return fail(Errc::bad_request, fmt::format("{}options are a JSON object", where));
  }
  for (const auto& [name, value] : document.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto near = config::nearest(name, known);
    return fail(Errc::bad_request,
                fmt::format("the option {}{} is not known{}", where, name,
                            near ? fmt::format("; did you mean {}?", *near) : ""));
  }
  return Options(document, std::string(where));
}

Result<Options> Options::parse(const char* text, std::span<const std::string_view> known) {
  if (text == nullptr) return Options(json::object(), "");
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return fail(Errc::bad_request, "the options are no JSON");
  return of(document, "", known);
}

const json* Options::find(std::string_view name) const {
  const auto found = document_.find(std::string(name));
  return found == document_.end() || found->is_null() ? nullptr : &*found;
}

std::unexpected<Error> Options::wrong(std::string_view name, std::string_view wanted) const {
  return fail(Errc::bad_request, fmt::format("the option {}{} is {}", where_, name, wanted));
}

Result<std::uint64_t> Options::number(std::string_view name, std::uint64_t otherwise) const {
  const json* value = find(name);
  if (value == nullptr) return otherwise;
  if (!value->is_number_unsigned()) return wrong(name, "a whole number, not below 0");
  return value->get<std::uint64_t>();
}

Result<double> Options::real(std::string_view name, double otherwise) const {
  const json* value = find(name);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) return wrong(name, "a number");
  return value->get<double>();
}

Result<bool> Options::flag(std::string_view name, bool otherwise) const {
  const json* value = find(name);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return wrong(name, "true or false");
  return value->get<bool>();
}

Result<std::string> Options::text(std::string_view name, std::string_view otherwise) const {
  const json* value = find(name);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) return wrong(name, "a text");
  return value->get<std::string>();
}

Result<std::size_t> Options::word(std::string_view name,
                                  std::span<const std::string_view> words) const {
  LEAT_TRY(const std::string said, text(name, words.front()));
  const auto found = std::ranges::find(words, said);
  if (found == words.end()) return wrong(name, fmt::format("one of {}", fmt::join(words, ", ")));
  return static_cast<std::size_t>(found - words.begin());
}

Result<std::vector<std::string>> Options::texts(std::string_view name) const {
  std::vector<std::string> all;
  const json* value = find(name);
  if (value == nullptr) return all;
  const auto is_text = [](const json& one) { return one.is_string(); };
  if (!value->is_array() || !std::ranges::all_of(*value, is_text)) {
    return wrong(name, "a list of texts");
  }
  for (const json& one : *value)
    all.push_back(one.get<std::string>());
  return all;
}

Result<std::vector<std::uint64_t>> Options::numbers(std::string_view name) const {
  std::vector<std::uint64_t> all;
  const json* value = find(name);
  if (value == nullptr) return all;
  const auto is_number = [](const json& one) { return one.is_number_unsigned(); };
  if (!value->is_array() || !std::ranges::all_of(*value, is_number)) {
    return wrong(name, "a list of whole numbers, not below 0");
  }
  all.reserve(value->size());
  for (const json& one : *value)
    all.push_back(one.get<std::uint64_t>());
  return all;
}

Result<std::vector<double>> Options::reals(std::string_view name) const {
  std::vector<double> all;
  const json* value = find(name);
  if (value == nullptr) return all;
  const auto is_number = [](const json& one) { return one.is_number(); };
  if (!value->is_array() || !std::ranges::all_of(*value, is_number)) {
    return wrong(name, "a list of numbers");
  }
  for (const json& one : *value)
    all.push_back(one.get<double>());
  return all;
}

}  // namespace leat::capi
