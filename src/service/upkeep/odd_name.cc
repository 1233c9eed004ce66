#include "upkeep/odd_name.h"

#include <algorithm>

namespace leat::upkeep {

std::optional<std::string> why_odd(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::string_view folder = slash == name.npos ? std::string_view() : name.substr(0, slash);
  const std::string_view base = slash == name.npos ? name : name.substr(slash + 1);
  const std::size_t dot = base.find('.');
  if (base.starts_with('.')) return "a hidden file: some readers give it an empty key";
  if (dot == base.npos) {
    if (folder.find('.') != folder.npos) return "no extension, and a dot in its folder";
    return std::nullopt;
  }
  const std::string_view extension = base.substr(dot + 1);
  if (extension.empty() || extension.starts_with('.')) return "an empty extension";
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (std::ranges::any_of(extension, is_upper)) return "an extension with upper-case letters";
  return std::nullopt;
}

}  // namespace leat::upkeep
