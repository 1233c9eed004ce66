#include "config/setting.h"

namespace leat::config {

std::string flag_name(const Setting& setting) {
  if (!setting.flag.empty()) return std::string(setting.flag);
  std::string name = "--";
  for (const char c : setting.key) {
    name += c == '.' || c == '_' ? '-' : c;
  }
  return name;
}

std::string environment_name(const Setting& setting) {
  std::string name = "LEAT_";
  for (const char c : setting.key) {
    const bool lower = c >= 'a' && c <= 'z';
    name += c == '.' ? '_' : lower ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

}  // namespace leat::config
