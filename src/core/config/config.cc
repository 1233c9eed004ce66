#include "config/config.h"

#include "base/check.h"

namespace leat::config {

template <class T>
const T& Config::get(std::string_view key, Kind kind) const {
  for (const Slot& slot : slots_) {
    if (slot.setting.key != key) continue;
    LEAT_CHECK(slot.setting.kind == kind);
    return std::get<T>(slot.value);
  }
  check_failed(__FILE__, __LINE__, "the setting is in the schema");
}

const std::string& Config::text(std::string_view key) const {
  return get<std::string>(key, Kind::text);
}
std::int64_t Config::integer(std::string_view key) const {
  return get<std::int64_t>(key, Kind::integer);
}
bool Config::boolean(std::string_view key) const {
  return get<bool>(key, Kind::boolean);
}
std::uint64_t Config::bytes(std::string_view key) const {
  return get<std::uint64_t>(key, Kind::bytes);
}
Duration Config::duration(std::string_view key) const {
  return get<Duration>(key, Kind::duration);
}
const std::vector<std::string>& Config::list(std::string_view key) const {
  return get<std::vector<std::string>>(key, Kind::list);
}

std::vector<Entry> Config::entries() const {
  std::vector<Entry> rows;
  for (const Slot& slot : slots_) {
    const bool hidden = slot.setting.secret && !slot.shown.empty();
    rows.push_back({.key = std::string(slot.setting.key),
                    .value = hidden ? "[redacted]" : slot.shown,
                    .origin = slot.origin});
  }
  return rows;
}

}  // namespace leat::config
