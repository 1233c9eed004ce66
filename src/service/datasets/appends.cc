#include "datasets/appends.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace leat::datasets {
namespace {

using nlohmann::json;

constexpr std::string_view kFolder = "append";
constexpr std::string_view kSuffix = ".tar";

}  // namespace

std::string_view dataset_of(const record::Version& version) {
  for (const record::Attribute& one : version.attributes) {
    if (one.name == kDatasetAttribute) return one.value;
  }
  return {};
}

std::uint64_t AppendState::committed_of(std::string_view producer) const {
  const auto known = committed.find(producer);
  return known == committed.end() ? 0 : known->second;
}

std::string encode(const AppendState& state) {
  return json{{"id", state.id}, {"committed", state.committed}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

Result<AppendState> decode_appends(std::string_view text) {
  const auto damaged = [] { return fail(Errc::corrupt, "the appends of a dataset are damaged"); };
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return damaged();
  const auto id = document.find("id");
  const auto committed = document.find("committed");
  if (id == document.end() || !id->is_string() || committed == document.end() ||
      !committed->is_object()) {
    return damaged();
  }
  AppendState state{.id = id->get<std::string>()};
  for (const auto& [producer, sequence] : committed->items()) {
    if (!sequence.is_number_unsigned()) return damaged();
    state.committed.emplace(producer, sequence.get<std::uint64_t>());
  }
  return state;
}

Status check_producer(std::string_view producer) {
  // A name of digits is a fine producer, but no tag.
  if (check_tag(fmt::format("p{}", producer)) && !producer.empty()) return {};
  return fail(Errc::bad_request,
              fmt::format("{:?} is no producer: letters, digits, '.', '-' and '_'", producer));
}

std::string append_prefix(const DatasetName& name, const AppendState& state) {
  return fmt::format("{}/{}/{}/", name.name, kFolder, state.id);
}

std::string append_key(const DatasetName& name, const AppendState& state, std::string_view producer,
                       std::uint64_t sequence) {
  return fmt::format("{}{}/{:012}{}", append_prefix(name, state), producer, sequence, kSuffix);
}

std::optional<AppendName> parse_append_key(const DatasetName& name, std::string_view key) {
  const std::string prefix = fmt::format("{}/{}/", name.name, kFolder);
  if (!key.starts_with(prefix) || !key.ends_with(kSuffix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  key.remove_suffix(kSuffix.size());
  const std::size_t first = key.find('/');
  const std::size_t last = key.rfind('/');
  if (first == key.npos || first == last) return std::nullopt;
  AppendName parsed{.id = std::string(key.substr(0, first)),
                    .producer = std::string(key.substr(first + 1, last - first - 1))};
  const std::string_view digits = key.substr(last + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), parsed.sequence);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (!check_producer(parsed.producer) || parsed.sequence == 0) return std::nullopt;
  return parsed;
}

}  // namespace leat::datasets
