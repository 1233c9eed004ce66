#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "config/config.h"
#include "config/nearest.h"
#include "config/toml.h"

namespace leat::config {
namespace {

constexpr std::string_view kEnvironmentPrefix = "LEAT_";

// A value inside a message: short, and not shown if it is a secret.
std::string quoted(const Setting& setting, std::string_view text) {
  constexpr std::size_t kMax = 60;
  if (setting.secret) return "[redacted]";
  return fmt::format("`{}{}`", text.substr(0, kMax), text.size() > kMax ? "…" : "");
}

// "; did you mean `http.head_max_bytes`?", or nothing. A key without its section, or in the wrong
// one, is recognised by its last part if only one setting has it.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  std::optional<std::string_view> meant = nearest(word, candidates);
  if (!meant) {
    const auto last_part = [](std::string_view key) { return key.substr(key.rfind('.') + 1); };
    const auto same = [&](std::string_view key) { return last_part(key) == last_part(word); };
    if (std::ranges::count_if(candidates, same) == 1)
      meant = *std::ranges::find_if(candidates, same);
  }
  return meant ? fmt::format("; did you mean `{}`?", *meant) : "";
}

bool fits(Kind kind, TomlType type) {
  switch (kind) {
    case Kind::integer: return type == TomlType::integer;
    case Kind::boolean: return type == TomlType::boolean;
    case Kind::bytes: return type == TomlType::text || type == TomlType::integer;
    case Kind::list: return type == TomlType::list;
    case Kind::text:
    case Kind::duration: return type == TomlType::text;
  }
  return false;
}

std::string_view toml_expectation(Kind kind) {
  switch (kind) {
    case Kind::text: return "expected text in quotes";
    case Kind::integer: return "expected a whole number without quotes";
    case Kind::boolean: return "expected true or false without quotes";
    case Kind::bytes: return "expected a size such as 512 or \"64KiB\"";
    case Kind::duration: return "expected a duration in quotes, such as \"30s\"";
    case Kind::list: return "expected a list such as [\"a\", \"b\"]";
  }
  return "";
}

}  // namespace

// Applies the sources in order of precedence and collects what is wrong with them.
class Loader {
 public:
  explicit Loader(std::span<const Setting> settings) {
    std::set<std::string> names;
    for (const Setting& setting : settings) {
      LEAT_CHECK(names.emplace(setting.key).second);
      LEAT_CHECK(names.insert(flag_name(setting)).second);
      LEAT_CHECK(names.insert(environment_name(setting)).second);
      Result<Value> value = parse_value(setting.kind, setting.default_text);
      LEAT_CHECK(value.has_value());
      config_.slots_.push_back(
          {setting, *std::move(value), std::string(setting.default_text), "default"});
      keys_.push_back(setting.key);
    }
  }

  void apply_toml(std::string_view text, std::string_view name) {
    Result<std::vector<TomlEntry>> entries = read_toml(text, name);
    if (!entries) {
      report(std::string(entries.error().detail()));
      return;
    }
    for (const TomlEntry& entry : *entries) {
      apply_toml_entry(entry, fmt::format("{}:{}", name, entry.line));
    }
  }

  void apply_environment(const std::map<std::string, std::string>& environment,
                         std::span<const std::string> reserved) {
    std::vector<std::string> names;
    for (const Config::Slot& slot : config_.slots_) {
      names.push_back(environment_name(slot.setting));
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    for (const auto& [name, text] : environment) {
      if (!name.starts_with(kEnvironmentPrefix)) continue;
      if (std::ranges::find(reserved, name) != reserved.end()) continue;
      const auto found = std::ranges::find(names, name);
      if (found == names.end()) {
        report(fmt::format("unknown variable {}{}", name, suggestion(name, known)));
        continue;
      }
      Config::Slot& slot = config_.slots_[static_cast<std::size_t>(found - names.begin())];
      set(slot, text, name, fmt::format("in {}", name));
    }
  }

  void apply_flag(std::string_view key, std::string_view text) {
    Config::Slot* slot = find(key);
    if (slot == nullptr) {
      report(fmt::format("unknown setting `{}`{}", key, suggestion(key, keys_)));
      return;
    }
    const std::string flag = flag_name(slot->setting);
    const bool again = slot->origin == flag && slot->setting.kind == Kind::list;
    const Config::Slot before = again ? *slot : Config::Slot{};
    if (!set(*slot, text, flag, fmt::format("for {}", flag)) || !again) return;
    auto& items = std::get<std::vector<std::string>>(slot->value);
    const auto& earlier = std::get<std::vector<std::string>>(before.value);
    items.insert(items.begin(), earlier.begin(), earlier.end());
    slot->shown = fmt::format("{}, {}", before.shown, slot->shown);
  }

  Result<Config> finish() && {
    if (errors_.empty()) return std::move(config_);
    return fail(Errc::bad_request, fmt::format("{}", fmt::join(errors_, "\n")));
  }

 private:
  Config::Slot* find(std::string_view key) {
    const auto found = std::ranges::find(keys_, key);
    return found == keys_.end() ? nullptr
                                : &config_.slots_[static_cast<std::size_t>(found - keys_.begin())];
  }

  void apply_toml_entry(const TomlEntry& entry, std::string origin) {
    Config::Slot* slot = find(entry.path);
    if (slot == nullptr) {
      const std::string section = entry.path + ".";
      const auto inside = [&](std::string_view key) { return key.starts_with(section); };
      if (entry.type == TomlType::section && std::ranges::any_of(keys_, inside)) return;
      report(fmt::format("unknown key `{}` in {}{}", entry.path, origin,
                         suggestion(entry.path, keys_)));
      return;
    }
    const std::string place = fmt::format("for `{}` in {}", entry.path, origin);
    if (!fits(slot->setting.kind, entry.type)) {
      report(fmt::format("bad value {}: {}", place, toml_expectation(slot->setting.kind)));
    } else if (entry.type == TomlType::list) {
      slot->value = entry.items;
      slot->shown = fmt::format("{}", fmt::join(entry.items, ", "));
      slot->origin = std::move(origin);
    } else {
      set(*slot, entry.text, std::move(origin), place);
    }
  }

  // One line per error, whatever the names and values in it hold.
  void report(std::string message) {
    const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
    std::ranges::replace_if(message, is_control, '?');
    errors_.push_back(std::move(message));
  }

  // `place` tells in a message where the text stands. False if it was no good.
  bool set(Config::Slot& slot, std::string_view text, std::string origin, std::string_view place) {
    Result<Value> value = parse_value(slot.setting.kind, text);
    if (!value) {
      report(fmt::format("bad value {} {}: {}", quoted(slot.setting, text), place,
                         value.error().detail()));
      return false;
    }
    slot.value = *std::move(value);
    slot.shown = text;
    slot.origin = std::move(origin);
    return true;
  }

  Config config_;
  std::vector<std::string_view> keys_;  // of config_.slots_, in their order
  std::vector<std::string> errors_;
};

Result<Config> load(std::span<const Setting> settings, const Sources& sources) {
  Loader loader(settings);
  if (sources.toml_text) loader.apply_toml(*sources.toml_text, sources.toml_name);
  loader.apply_environment(sources.environment, sources.reserved);
  for (const auto& [key, text] : sources.flags) {
    loader.apply_flag(key, text);
  }
  return std::move(loader).finish();
}

}  // namespace leat::config
