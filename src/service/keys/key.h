// Access keys and what they may do. Pure: time is an argument.
//
// A key may do nothing but what one of its rules says (deny by default). A rule names buckets (a
// name, or the beginning of names and '*'), the beginning of the objects' keys, and rights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace leat::keys {

enum class Right : std::uint8_t {
  read,   // the bytes, metadata and tags of objects
  write,  // making, replacing and removing objects, and uploads of them
  list,   // names
  admin,  // making, configuring and removing buckets; making objects public
};
constexpr Right kRights[] = {Right::read, Right::write, Right::list, Right::admin};
std::string_view name_of(Right right);

struct Rule {
  std::string bucket{};  // "photos", "team-*", "*"
  std::string prefix{};  // of keys; empty for all
  std::vector<Right> rights{};
  bool operator==(const Rule&) const = default;
};

struct Key {
  std::string id{};
  std::string secret{};  // never logged, shown once
  std::string name{};    // for people
  std::vector<Rule> rules{};
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> expires_ms{};
  bool operator==(const Key&) const = default;

  bool is_expired(std::int64_t now_ms) const { return expires_ms && *expires_ms <= now_ms; }
};

// `key`: of an object; of a listing, its prefix; empty for what is about the bucket.
bool allows(const Key& who, Right right, std::string_view bucket, std::string_view key);
// Any right on any part of the bucket: it may know that it is there.
bool knows(const Key& who, std::string_view bucket);

// All keys at some moment; never changed, only replaced.
class KeyTable {
 public:
  KeyTable(std::string seal, std::vector<Key> keys);

  // Null when there is none.
  std::shared_ptr<const Key> find(std::string_view id) const;
  // By id.
  const std::vector<std::shared_ptr<const Key>>& all() const { return keys_; }
  // A secret of the node for what it hands out and wants back unchanged.
  const std::string& seal() const { return seal_; }

 private:
  std::string seal_;
  std::vector<std::shared_ptr<const Key>> keys_;
};
using KeyTablePtr = std::shared_ptr<const KeyTable>;

// As the file has them. Errors: corrupt.
std::string encode(const KeyTable& table);
Result<KeyTable> decode(std::string_view text);

}  // namespace leat::keys
