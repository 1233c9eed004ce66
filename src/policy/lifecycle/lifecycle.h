// Lifecycle rules of a bucket: which objects and unfinished uploads are to go, and when.
//
// Pure: time is an argument, and so is the length of a day, which tests make short. A rule of n
// days falls due at the first midnight (UTC) that is n days or more after the object was written.
//
// The document that is kept is the one that write_lifecycle() makes of what was understood.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "s3error/s3error.h"

namespace leat::lifecycle {

constexpr std::size_t kRulesMax = 1000;
constexpr std::size_t kDocumentMaxBytes = 256 * 1024;
constexpr std::int64_t kDayMs = 24LL * 60 * 60 * 1000;

// The name of the property of buckets that keeps them.
constexpr std::string_view kProperty = "s3.lifecycle";

using Tag = std::pair<std::string, std::string>;

// What a rule is about; all of it must fit.
struct Filter {
  std::string prefix{};
  std::vector<Tag> tags{};
  std::optional<std::uint64_t> larger_than{};
  std::optional<std::uint64_t> less_than{};
  bool operator==(const Filter&) const = default;
};

struct Rule {
  std::string id{};
  bool is_enabled = false;
  Filter filter{};
  std::optional<std::uint32_t> expire_days{};
  std::optional<std::int64_t> expire_at_ms{};
  std::optional<std::uint32_t> abort_days{};  // of uploads that were not completed
  // Of versions.
  std::optional<std::uint32_t> noncurrent_days{};
  std::optional<std::uint32_t> newer_noncurrent{};  // how many are kept all the same
  bool removes_lonely_markers = false;              // ExpiredObjectDeleteMarker
  bool operator==(const Rule&) const = default;

  bool is_about_versions() const { return noncurrent_days || removes_lonely_markers; }
};

// Errors: MalformedXML, InvalidArgument, InvalidRequest, NotImplemented (transitions).
s3error::S3Result<std::vector<Rule>> parse_lifecycle(std::string_view xml);
std::string write_lifecycle(const std::vector<Rule>& rules);

// An object as rules see it.
struct Object {
  std::string_view key{};
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0;
  std::span<const Tag> tags{};
};

struct Expiry {
  std::int64_t at_ms = 0;
  std::string_view rule{};  // its id
};

// The earliest that a rule in force has for a current object. Lifetime: the rules outlive it.
std::optional<Expiry> expiry_of(std::span<const Rule> rules, const Object& object,
                                std::int64_t day_ms);
// The same of an upload that was begun and not completed.
std::optional<Expiry> abort_of(std::span<const Rule> rules, std::string_view key,
                               std::int64_t begun_ms, std::int64_t day_ms);

// A version that is no longer current.
struct PastVersion {
  Object object{};
  std::int64_t replaced_ms = 0;  // when the next one was made
  std::uint64_t newer = 0;       // how many of the key are younger, without the current one
};
std::optional<Expiry> expiry_of(std::span<const Rule> rules, const PastVersion& version,
                                std::int64_t day_ms);
// A delete marker goes when nothing else is left of its key.
bool removes_lonely_marker(std::span<const Rule> rules, std::string_view key);

// What all keys that a rule in force expires begin with.
std::string common_prefix(std::span<const Rule> rules);
bool expires_objects(std::span<const Rule> rules);
bool aborts_uploads(std::span<const Rule> rules);

}  // namespace leat::lifecycle
