#include "datasets/commit_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace leat::datasets {
namespace {

using nlohmann::json;

constexpr std::uint64_t kFormat = 1;

json json_of(const VersionRef& ref) {
  return {{"version", ref.version}, {"committed_ms", ref.committed_ms}, {"record", ref.record}};
}

// Who may write to the bucket can replace a record: links that did not lead back would have no end.
bool goes_back(const CommitRecord& record) {
  return record.parent.version < record.version && record.jump.version < record.version &&
         record.jump_of_jump.version < record.version;
}

// Takes values out of a document; after the first that is missing or of another kind, failed.
class Taker {
 public:
  explicit Taker(const json& document) : document_(document) {}

  template <class T>
  void take(const char* name, T& value) {
    const auto found = document_.find(name);
    if (found == document_.end() || !is_a<T>(*found)) {
      failed_ = true;
      return;
    }
    value = found->template get<T>();
  }
  void take(const char* name, VersionRef& value) {
    const auto found = document_.find(name);
    if (found == document_.end() || !found->is_object()) {
      failed_ = true;
      return;
    }
    Taker inner(*found);
    inner.take("version", value.version);
    inner.take("committed_ms", value.committed_ms);
    inner.take("record", value.record);
    failed_ = failed_ || inner.failed_;
  }
  bool failed() const { return failed_; }

 private:
  template <class T>
  static bool is_a(const json& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      return value.is_string();
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      return value.is_number_unsigned();
    } else if constexpr (std::is_same_v<T, bool>) {
      return value.is_boolean();
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      return value.is_number_integer();
    } else {
      return value.is_array() &&
             std::ranges::all_of(value, [](const json& one) { return one.is_string(); });
    }
  }

  const json& document_;
  bool failed_ = false;
};

}  // namespace

std::string encode(const VersionRef& pointer) {
  return json_of(pointer).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string encode_pin(const VersionRef& pinned, std::string_view owner) {
  json document = json_of(pinned);
  document["owner"] = owner;
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string owner_of_pin(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return {};
  const auto owner = document.find("owner");
  return owner != document.end() && owner->is_string() ? owner->get<std::string>() : "";
}

Result<VersionRef> decode_pointer(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  VersionRef pointer;
  if (!document.is_object()) return fail(Errc::corrupt, "the pointer of a dataset is damaged");
  Taker in(document);
  in.take("version", pointer.version);
  in.take("committed_ms", pointer.committed_ms);
  in.take("record", pointer.record);
  if (in.failed()) return fail(Errc::corrupt, "the pointer of a dataset is damaged");
  return pointer;
}

std::string encode(const CommitRecord& record) {
  const json document = {{"format", kFormat},
                         {"version", record.version},
                         {"committed_ms", record.committed_ms},
                         {"message", record.message},
                         {"transaction", record.transaction},
                         {"parent", json_of(record.parent)},
                         {"jump", json_of(record.jump)},
                         {"jump_of_jump", json_of(record.jump_of_jump)},
                         {"snapshot", record.snapshot.key},
                         {"snapshot_bytes", record.snapshot.size_bytes},
                         {"fingerprint", record.snapshot.fingerprint},
                         {"samples", record.samples},
                         {"shards", record.shards},
                         {"bytes", record.bytes},
                         {"fields", record.fields},
                         {"added", record.added},
                         {"removed", record.removed},
                         {"deleted_samples", record.deleted_samples},
                         {"restored", record.restored},
                         {"is_anew", record.is_anew}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<CommitRecord> decode_record(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto damaged = [] { return fail(Errc::corrupt, "the record of a version is damaged"); };
  if (!document.is_object()) return damaged();
  std::uint64_t format = 0;
  Taker first(document);
  first.take("format", format);
  if (first.failed()) return damaged();
  if (format > kFormat) {
    return fail(Errc::version_not_supported,
                "a later Leat has written this version of the dataset");
  }
  CommitRecord record;
  Taker in(document);
  in.take("version", record.version);
  in.take("committed_ms", record.committed_ms);
  in.take("message", record.message);
  in.take("transaction", record.transaction);
  in.take("parent", record.parent);
  in.take("jump", record.jump);
  in.take("jump_of_jump", record.jump_of_jump);
  in.take("snapshot", record.snapshot.key);
  in.take("snapshot_bytes", record.snapshot.size_bytes);
  in.take("fingerprint", record.snapshot.fingerprint);
  in.take("samples", record.samples);
  in.take("shards", record.shards);
  in.take("bytes", record.bytes);
  in.take("fields", record.fields);
  in.take("added", record.added);
  in.take("removed", record.removed);
  in.take("deleted_samples", record.deleted_samples);
  // The first records had none of these.
  if (document.contains("restored")) in.take("restored", record.restored);
  if (document.contains("is_anew")) in.take("is_anew", record.is_anew);
  if (in.failed() || !goes_back(record)) return damaged();
  return record;
}

std::string encode(const Tombstone& tombstone) {
  const json document = {
      {"format", kFormat}, {"record", tombstone.record}, {"removed_ms", tombstone.removed_ms}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Tombstone> decode_tombstone(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return fail(Errc::corrupt, "it is damaged");
  Tombstone tombstone;
  Taker in(document);
  in.take("record", tombstone.record);
  in.take("removed_ms", tombstone.removed_ms);
  if (in.failed()) return fail(Errc::corrupt, "it is damaged");
  return tombstone;
}

// The random-access stack of Myers (1983): two jumps of the same length become one. Version 0, the
// one before the first, jumps to itself.
namespace {
bool joins_jumps(const CommitRecord& parent) {
  const std::uint64_t near = parent.version - parent.jump.version;
  const std::uint64_t far = parent.jump.version - parent.jump_of_jump.version;
  return near == far;
}
}  // namespace

VersionRef far_link(const CommitRecord& parent) {
  return joins_jumps(parent) ? parent.jump_of_jump : VersionRef{};
}

void link_to(CommitRecord& record, const CommitRecord& parent, const VersionRef& parent_ref,
             const CommitRecord* far) {
  record.parent = parent_ref;
  if (joins_jumps(parent)) {
    record.jump = parent.jump_of_jump;
    record.jump_of_jump = far != nullptr ? far->jump : VersionRef{};
  } else {
    record.jump = parent_ref;
    record.jump_of_jump = parent.jump;
  }
}

VersionRef step_back(const CommitRecord& from, const IsOldEnough& is_old_enough) {
  if (from.jump.version != 0 && !is_old_enough(from.jump)) return from.jump;
  return from.parent;
}

}  // namespace leat::datasets
