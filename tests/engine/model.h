// The reference model: what a store must hold, as plain maps.
//
// A key's state is a value: what is there, what can be had back, which uploads are open. An
// operation is a pure function from one state to the next. Every acknowledged operation adds a step
// to the history of its key; a crash may take the store back to any step since the last one that
// was durable, or on to one that an unanswered operation leads to, and to nothing else.
//
// A bucket is kept like a key, under the empty name, which no object has.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/index.h"
#include "record/types.h"
#include "volume/volume.h"

namespace leat::model {

using Text = std::shared_ptr<const std::string>;

// What the model knows of a version. Number and sequence are 0 until somebody has seen them.
struct Version {
  std::uint64_t id = 0;
  std::uint64_t sequence = 0;
  Text data{};
  std::string etag{};  // its own for each piece of data: who has seen the etag knows the bytes
  std::int64_t modified_ms = 0;
  std::vector<record::Attribute> attributes{};
  bool is_marker = false;
  bool is_versioned = false;
};

// The time of a removal lies between that of the call and that of its answer.
struct Trashed {
  Version version{};
  std::int64_t since_ms = 0;
  std::int64_t since_latest_ms = 0;
  std::int64_t window_ms = 0;
  bool is_kept = false;  // for good: there is no window
};

struct Upload {
  std::vector<record::Attribute> attributes{};
  std::map<std::uint32_t, Version> parts{};
};

struct State {
  std::optional<Version> current{};
  std::vector<Trashed> trash{};
  std::map<std::uint64_t, Upload> uploads{};
  std::optional<record::Bucket> bucket{};
  bool is_empty() const { return !current && trash.empty() && uploads.empty() && !bucket; }
};

enum class Kind : std::uint8_t {
  put,
  remove,
  remove_version,
  restore,
  revise,
  begin_upload,
  put_part,
  complete,
  abort,
  purge,
  put_bucket,
  remove_bucket,
};

struct Operation {
  Kind kind = Kind::put;
  record::ObjectKey object{};
  volume::Precondition precondition{};
  Version version{};                               // put, revise, put_part, complete
  std::optional<record::VersionId> old_version{};  // restore, purge, remove_version
  record::UploadId upload{};
  std::uint32_t part = 0;
  std::vector<volume::PartChoice> choices{};
  std::vector<record::Attribute> attributes{};  // begin_upload
  record::Bucket bucket{};
  // What was true when it was called.
  std::int64_t at_ms = 0;
  std::int64_t at_latest_ms = 0;
  std::uint64_t window_ms = 0;
  record::Versioning versioning = record::Versioning::off;
  record::Durability durability = record::Durability::sync;
  bool bucket_is_there = true;
};

std::string describe(const Operation& operation);

// What the store must answer, and the state after it; an error changes nothing.
Result<State> apply(const Operation& operation, const State& state);

// The version that a restore brings back; nothing if there is none.
const Trashed* restorable(const Operation& operation, const State& state);

// What an index holds of a key, read entry by entry.
struct SeenUpload {
  record::Upload upload{};
  std::vector<record::Part> parts{};
};
struct Seen {
  std::optional<record::Version> current{};
  std::vector<index::Trashed> trash{};
  std::map<std::uint64_t, SeenUpload> uploads{};
  std::optional<record::Bucket> bucket{};
};

// Why `seen` cannot be this state; empty if it can.
std::string difference(const State& state, const Seen& seen);
// Takes numbers, sequences and times over. Requires: there is no difference.
void adopt(State& state, const Seen& seen);

// The history of one key since its last durable state.
struct Step {
  State state{};
  // Positions on the history's own scale, growing: when it was called and when it was answered.
  std::uint64_t called = 0;
  std::uint64_t answered = 0;
  Instant answered_at{};
  record::Durability durability = record::Durability::sync;
};

class History {
 public:
  // With `keeps_all` nothing is forgotten, so that allowed() can be asked about the past.
  explicit History(bool keeps_all = false) : keeps_all_(keeps_all) {}

  const State& last(const record::ObjectKey& object) const;
  State& edit_last(const record::ObjectKey& object);
  const std::map<record::ObjectKey, std::vector<Step>>& keys() const { return keys_; }

  void add(const record::ObjectKey& object, Step step);
  // What was answered up to position `covers` is on the disk; so it was said at `answered`.
  void sync(std::uint64_t covers, std::uint64_t answered);
  // The same for what was answered up to the last step of class `group` answered before `until`.
  void sync_group(Instant until);

  // The steps that a crash at `position` may leave, the oldest first; never none.
  std::vector<const Step*> allowed(const record::ObjectKey& object, std::uint64_t position) const;

  // The key is in this state now, for good.
  void settle(const record::ObjectKey& object, State state);

 private:
  struct Sync {
    std::uint64_t covers;
    std::uint64_t answered;
  };
  std::size_t durable_step(const std::vector<Step>& steps, std::uint64_t position) const;

  bool keeps_all_;
  std::vector<Sync> syncs_;
  std::map<record::ObjectKey, std::vector<Step>> keys_;
};

// What a listing must give: all items behind `request.after`, without the limit.
std::vector<std::string> reference_list(const index::ListRequest& request,
                                        const std::vector<std::string>& sorted_keys);

}  // namespace leat::model
