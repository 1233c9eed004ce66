#include "datasets/vacuumed.h"

#include <nlohmann/json.hpp>

namespace leat::datasets {

using nlohmann::json;

std::string encode(const Vacuumed& vacuumed) {
  return json{{"below", vacuumed.below}, {"kept", vacuumed.kept}}.dump();
}

Result<Vacuumed> decode_vacuumed(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto is_number = [](const json& one) { return one.is_number_unsigned(); };
  const bool is_sound = document.is_object() && document.contains("below") &&
                        is_number(document["below"]) && document.contains("kept") &&
                        document["kept"].is_array() &&
                        std::ranges::all_of(document["kept"], is_number);
  if (!is_sound) return fail(Errc::corrupt, "what was vacuumed of a dataset is damaged");
  return Vacuumed{.below = document["below"].get<std::uint64_t>(),
                  .kept = document["kept"].get<std::set<std::uint64_t>>()};
}

}  // namespace leat::datasets
