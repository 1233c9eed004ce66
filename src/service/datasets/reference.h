// How people name a dataset, and one version of it: imagenet/train, imagenet/train@7, @best,
// @2026-11-01. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace leat::datasets {

struct DatasetName {
  std::string bucket{};
  std::string name{};  // may have slashes; no '@'

  std::string text() const { return bucket + "/" + name; }
  auto operator<=>(const DatasetName&) const = default;
};

struct Latest {
  bool operator==(const Latest&) const = default;
};
struct VersionNumber {
  std::uint64_t number = 0;
  bool operator==(const VersionNumber&) const = default;
};
struct Tag {
  std::string name{};
  bool operator==(const Tag&) const = default;
};
// The version that was current at this moment.
struct AsOf {
  std::int64_t ms = 0;  // since 1970
  bool operator==(const AsOf&) const = default;
};
using Which = std::variant<Latest, VersionNumber, Tag, AsOf>;

struct Reference {
  DatasetName dataset{};
  Which which{};
  bool operator==(const Reference&) const = default;
};

// "BUCKET/NAME" and an optional "@REF": a number, a tag, or a day or time in UTC (2026-11-01,
// 2026-11-01T12:30, …:45), which means the end of that day, minute or second.
// Errors: bad_request.
Result<Reference> parse_reference(std::string_view text);

// Letters, digits, '.', '-', '_'; no number and no date, which mean other things; 1 to 100 bytes.
// Errors: bad_request.
Status check_tag(std::string_view tag);

}  // namespace leat::datasets
