// What is stored of one version of a dataset, and how versions find each other. Pure.
//
// A version is a record, an object beside the shards that never changes. It names the version
// before it and one that is further back (its *jump*), chosen so that from any version every older
// one is reached in a number of steps that grows with the logarithm of how many there are: opening
// version 3 of 10 000 reads some thirty small objects, and a commit reads two. The control store
// holds one pointer a dataset, to the last record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace leat::datasets {

// A version, and where its record is.
struct VersionRef {
  std::uint64_t version = 0;  // 0: none
  std::int64_t committed_ms = 0;
  std::string record{};  // the key of the object
  bool operator==(const VersionRef&) const = default;
};

struct SnapshotRef {
  std::string key{};
  std::uint64_t size_bytes = 0;
  std::string fingerprint{};  // hexadecimal
  bool operator==(const SnapshotRef&) const = default;
};

struct CommitRecord {
  std::uint64_t version = 0;
  std::int64_t committed_ms = 0;  // grows with the version
  std::string message{};
  std::string transaction{};
  VersionRef parent{};
  VersionRef jump{};
  VersionRef jump_of_jump{};
  SnapshotRef snapshot{};
  std::uint64_t samples = 0;
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;  // of the shards
  std::vector<std::string> fields{};
  std::vector<std::string> added{};  // keys of shards
  std::vector<std::string> removed{};
  std::uint64_t deleted_samples = 0;
  std::uint64_t restored = 0;  // the version whose content it has again; 0: none
  bool is_anew = false;        // what was before it is not in it
  bool operator==(const CommitRecord&) const = default;
};

// What says that a dataset was removed: an object beside its records, written before the pointer
// goes, so that a rebuild does not take a dataset that was removed for one that was lost.
struct Tombstone {
  std::string record{};         // the key of the last version's; empty: it had none
  std::int64_t removed_ms = 0;  // shards that are older were of the dataset that went
  bool operator==(const Tombstone&) const = default;
};
constexpr std::string_view kTombstoneSuffix = ".removed";

std::string encode(const Tombstone& tombstone);
// Errors: corrupt.
Result<Tombstone> decode_tombstone(std::string_view text);

std::string encode(const CommitRecord& record);
// Errors: corrupt.
Result<CommitRecord> decode_record(std::string_view text);

// The value of the control store.
std::string encode(const VersionRef& pointer);
Result<VersionRef> decode_pointer(std::string_view text);

// The value of a pin: the version, as of a pointer, and whose it is.
std::string encode_pin(const VersionRef& pinned, std::string_view owner);
// Empty of nobody's, and of those that the first Leats set.
std::string owner_of_pin(std::string_view text);

// The version whose record a version that follows `parent` needs for its links, besides that one's;
// 0 for none.
VersionRef far_link(const CommitRecord& parent);
// Fills in parent, jump and jump_of_jump of a version that follows `parent`. `far`: the record that
// far_link() asked for, if it did.
void link_to(CommitRecord& record, const CommitRecord& parent, const VersionRef& parent_ref,
             const CommitRecord* far);

// Where to look next for the newest version for which `is_old_enough` holds, from one for which it
// does not: its jump if that is still too new, else its parent. Version 0: there is none.
using IsOldEnough = std::function<bool(const VersionRef&)>;
VersionRef step_back(const CommitRecord& from, const IsOldEnough& is_old_enough);

}  // namespace leat::datasets
