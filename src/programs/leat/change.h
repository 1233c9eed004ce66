// Change: one small thing that a command did, or with --dry-run would do, told in one line: of JSON
// on stdout, or in words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "leat/arguments.h"

namespace leat::programs {

inline constexpr Switch kDrySwitch = {"-n,--dry-run", "Say what would be done, and do nothing."};

struct Change {
  std::string_view type;    // "bucket", "property", "key", "disk"
  std::string_view action;  // "make", "remove", "set", …
  std::string name{};
  std::string shown{};  // for people, where the name alone tells too little
  std::string done{};   // what people are told once it is done: "made photos"
  // What else --json tells.
  nlohmann::json more = nlohmann::json::object();
};

// It was made, or was so before (`is_new` is false), or it would be, with --dry-run.
void tell(const Arguments& arguments, const Change& change, bool is_new = true);

}  // namespace leat::programs
