// Where the control store has what of a dataset. Names have no '@', so that no key is another's
// beginning up to it.
#pragma once

#include <string>
#include <string_view>

#include "datasets/reference.h"

namespace leat::datasets {

constexpr std::string_view kPointers = "ds/";

inline std::string pointer_key(const DatasetName& name) {
  return std::string(kPointers) + name.text();
}
inline std::string tag_key(const DatasetName& name, std::string_view tag) {
  return "ds-tag/" + name.text() + "@" + std::string(tag);
}
inline std::string transaction_key(const DatasetName& name, std::string_view id) {
  return "ds-txn/" + name.text() + "@" + std::string(id);
}

inline std::string pin_key(const DatasetName& name, std::string_view pin) {
  return "ds-pin/" + name.text() + "@" + std::string(pin);
}
// What producers appended, and how much of it was committed.
inline std::string appends_key(const DatasetName& name) {
  return "ds-append/" + name.text() + "@";
}
// Which versions were vacuumed.
inline std::string vacuumed_key(const DatasetName& name) {
  return "ds-vacuumed/" + name.text() + "@";
}
// What a vacuum of some dataset of the bucket is about to remove.
inline std::string doomed_key(std::string_view bucket) {
  return "ds-doomed/" + std::string(bucket);
}

}  // namespace leat::datasets
