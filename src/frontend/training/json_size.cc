#include "training/json_size.h"

#include <fmt/format.h>

namespace leat::training {
namespace {

constexpr std::size_t kDepthMax = 32;

}  // namespace

// Each value follows an opening bracket or a comma. What is no JSON is for the parser to refuse.
Status check_json_size(std::string_view text, std::size_t values_max) {
  std::size_t values = 0;
  std::size_t depth = 0;
  bool is_in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char one = text[i];
    if (is_in_text) {
      if (one == '\\') ++i;
      if (one == '"') is_in_text = false;
      continue;
    }
    if (one == '"') is_in_text = true;
    const bool opens = one == '[' || one == '{';
    if (opens && ++depth > kDepthMax) return fail(Errc::bad_request, "the body is nested too deep");
    if ((one == ']' || one == '}') && depth > 0) --depth;
    if ((opens || one == ',') && ++values > values_max) {
      return fail(Errc::bad_request, fmt::format("the body has more than {} values", values_max));
    }
  }
  return {};
}

}  // namespace leat::training
