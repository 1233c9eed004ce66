// Config: the effective value of every setting, and where each came from.
//
// Built-in defaults < leat.toml < LEAT_* environment < flags. The loader touches neither files nor
// the process environment: the program reads them and hands the text over, so loading is a pure
// function. A Config does not change after load() and may be shared by all threads.
//
// Lifetime: the settings' strings outlive the Config (config/setting.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/parse.h"
#include "config/setting.h"

namespace leat::config {

struct Sources {
  std::optional<std::string> toml_text = {};
  std::string toml_name = "leat.toml";                  // for origins and messages
  std::map<std::string, std::string> environment = {};  // only LEAT_* is looked at
  std::vector<std::string> reserved = {};               // LEAT_* variables that are no settings
  std::vector<std::pair<std::string, std::string>> flags = {};  // key and text, as they were given
};

// One row of `leat config show`.
struct Entry {
  std::string key;
  std::string value;   // as it was written; `[redacted]` for a secret that is set
  std::string origin;  // "default", "leat.toml:12", "LEAT_LISTEN" or "--listen"
};

class Config {
 public:
  // Requires: the key is in the schema and of this kind.
  const std::string& text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::uint64_t bytes(std::string_view key) const;
  Duration duration(std::string_view key) const;
  const std::vector<std::string>& list(std::string_view key) const;

  // All settings, in the order of the schema.
  std::vector<Entry> entries() const;

 private:
  friend class Loader;
  struct Slot {
    Setting setting;
    Value value;
    std::string shown;
    std::string origin;
  };
  template <class T>
  const T& get(std::string_view key, Kind kind) const;

  std::vector<Slot> slots_;
};

// Requires: keys and derived names are unique, and the defaults are good values of their kinds.
// A list flag that is given twice collects its items; of any other the last one counts.
// Errors: bad_request, with every unknown name and bad value of all sources, one per line.
Result<Config> load(std::span<const Setting> settings, const Sources& sources);

}  // namespace leat::config
