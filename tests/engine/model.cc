#include "engine/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace leat::model {
namespace {

std::string printable(std::string_view key) {
  std::string out;
  for (const char c : key.substr(0, 24)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (key.size() > 24) out += fmt::format("…({})", key.size());
  return out;
}

constexpr std::array<std::string_view, 12> kNames = {
    "put",      "remove",   "remove_version", "restore", "revise",     "begin_upload",
    "put_part", "complete", "abort",          "purge",   "put_bucket", "remove_bucket"};

Status check(const volume::Precondition& wanted, const std::optional<Version>& current) {
  const bool holds = (!wanted.must_be_absent || !current) &&
                     (!wanted.etag || (current && current->etag == *wanted.etag)) &&
                     (!wanted.version || (current && current->id == wanted.version->value()));
  if (!holds) return fail(Errc::precondition_failed);
  return {};
}

void retire(State& state, const Operation& operation, std::int64_t since_ms,
            std::int64_t latest_ms) {
  if (!state.current) return;
  Version old = *std::exchange(state.current, std::nullopt);
  const bool is_kept = operation.versioning == record::Versioning::on || old.is_versioned;
  if (operation.window_ms == 0 && !is_kept) return;
  state.trash.push_back({.version = std::move(old),
                         .since_ms = since_ms,
                         .since_latest_ms = latest_ms,
                         .window_ms = static_cast<std::int64_t>(operation.window_ms),
                         .is_kept = is_kept});
}

bool is_kept_null(const Trashed& one) {
  return one.is_kept && !one.version.is_versioned;
}

// A version that is made takes the place of what was current, and of the one made without `on`.
void make_current(State& state, const Operation& operation, Version version) {
  retire(state, operation, operation.version.modified_ms, operation.version.modified_ms);
  version.is_versioned = operation.versioning == record::Versioning::on;
  if (operation.versioning == record::Versioning::suspended) {
    std::erase_if(state.trash, is_kept_null);
  }
  state.current = std::move(version);
}

// A delete marker. Its etag is that of nothing, so it is told from others by its number.
State mark_deleted(const Operation& operation, State state) {
  const bool is_on = operation.versioning == record::Versioning::on;
  if (!is_on) std::erase_if(state.trash, is_kept_null);
  retire(state, operation, operation.at_ms, operation.at_latest_ms);
  Version marker{.data = std::make_shared<const std::string>(),
                 .modified_ms = operation.at_ms,
                 .is_marker = true,
                 .is_versioned = is_on};
  state.trash.push_back({.version = std::move(marker),
                         .since_ms = operation.at_ms,
                         .since_latest_ms = operation.at_latest_ms,
                         .is_kept = true});
  return state;
}

// The newest of those that are kept, besides one.
Trashed* newest_kept(State& state, std::uint64_t besides) {
  Trashed* newest = nullptr;
  for (Trashed& one : state.trash) {
    if (!one.is_kept || one.version.id == besides) continue;
    if (newest == nullptr || one.version.id > newest->version.id) newest = &one;
  }
  return newest;
}

Result<State> remove_version(const Operation& operation, State state) {
  const std::uint64_t id = operation.old_version->value();
  const bool is_current = state.current && state.current->id == id;
  const auto it = std::ranges::find_if(
      state.trash, [id](const Trashed& one) { return one.is_kept && one.version.id == id; });
  if (!is_current && it == state.trash.end()) return fail(Errc::not_found);
  const Trashed* top = newest_kept(state, 0);
  const bool was_shown = is_current || (!state.current && top->version.id == id);
  if (is_current) {
    const bool is_kept =
        operation.versioning == record::Versioning::on || state.current->is_versioned;
    if (is_kept) state.current.reset();
    retire(state, operation, operation.at_ms, operation.at_latest_ms);
  } else {
    state.trash.erase(it);
  }
  Trashed* next = newest_kept(state, id);
  if (was_shown && next != nullptr && !next->version.is_marker) {
    state.current = next->version;
    state.current->sequence = 0;
    state.trash.erase(state.trash.begin() + (next - state.trash.data()));
  }
  return state;
}

// The version that has other attributes: the current one, or one that is kept.
Result<State> revise(const Operation& operation, State state) {
  const auto kept = std::ranges::find_if(state.trash, [&operation](const Trashed& one) {
    return one.is_kept && one.version.id == operation.version.id;
  });
  if (kept != state.trash.end()) {
    kept->version = operation.version;
    return state;
  }
  LEAT_DO(check(operation.precondition, state.current));
  state.current = operation.version;
  return state;
}

Result<State> restore(const Operation& operation, State state) {
  const Trashed* wanted = restorable(operation, state);
  if (wanted == nullptr) return fail(Errc::not_found);
  const Version version = wanted->version;
  state.trash.erase(state.trash.begin() + (wanted - state.trash.data()));
  retire(state, operation, operation.at_ms, operation.at_latest_ms);
  state.current = version;
  state.current->sequence = 0;
  return state;
}

Result<State> complete(const Operation& operation, State state) {
  const auto found = state.uploads.find(operation.upload.value());
  if (found == state.uploads.end()) return fail(Errc::not_found);
  std::string all;
  for (const volume::PartChoice& choice : operation.choices) {
    const auto part = found->second.parts.find(choice.number);
    if (part == found->second.parts.end()) return fail(Errc::bad_request);
    if (!choice.etag.empty() && choice.etag != part->second.etag) return fail(Errc::bad_request);
    all += *part->second.data;
  }
  LEAT_DO(check(operation.precondition, state.current));
  Version version = operation.version;
  version.data = std::make_shared<const std::string>(std::move(all));
  version.attributes = found->second.attributes;
  state.uploads.erase(found);
  make_current(state, operation, std::move(version));
  return state;
}

Result<State> change_upload(const Operation& operation, State state) {
  const auto found = state.uploads.find(operation.upload.value());
  if (found == state.uploads.end()) return fail(Errc::not_found);
  if (operation.kind == Kind::abort) {
    state.uploads.erase(found);
  } else {
    found->second.parts[operation.part] = operation.version;
  }
  return state;
}

std::string version_difference(const Version& known, const record::Version& seen) {
  if (known.etag != seen.etag) return fmt::format("etag {} seen as {}", known.etag, seen.etag);
  if (known.id != 0 && known.id != seen.id.value()) {
    return fmt::format("version {} seen as {}", known.id, seen.id.value());
  }
  if (known.sequence != 0 && known.sequence != seen.sequence.value()) {
    return fmt::format("sequence {} seen as {}", known.sequence, seen.sequence.value());
  }
  if (known.data->size() != seen.size_bytes) {
    return fmt::format("{} bytes seen as {}", known.data->size(), seen.size_bytes);
  }
  if (known.modified_ms != seen.modified_ms) {
    return fmt::format("time {} seen as {}", known.modified_ms, seen.modified_ms);
  }
  if (known.attributes != seen.attributes) return "other attributes";
  if (known.is_marker != seen.is_marker) return "a marker, or none";
  if (known.is_versioned != seen.is_versioned) return "made while versions were kept, or not";
  return {};
}

// Delete markers have no etag to tell them apart. They are numbered in the order of their making.
std::vector<const Trashed*> markers_of(const State& state) {
  std::vector<const Trashed*> markers;
  for (const Trashed& one : state.trash) {
    if (one.version.is_marker) markers.push_back(&one);
  }
  return markers;
}
std::vector<const index::Trashed*> markers_of(const Seen& seen) {
  std::vector<const index::Trashed*> markers;
  for (const index::Trashed& one : seen.trash) {
    if (one.version.is_marker) markers.push_back(&one);
  }
  std::ranges::sort(markers, {}, [](const index::Trashed* one) { return one->version.id; });
  return markers;
}

std::string marker_difference(const Trashed& known, const index::Trashed& seen) {
  Version expected = known.version;
  expected.modified_ms = seen.since_ms;
  if (!seen.is_kept()) return "a marker that goes by itself";
  if (seen.since_ms < known.since_ms || seen.since_ms > known.since_latest_ms) {
    return fmt::format("a marker of {}–{} seen as of {}", known.since_ms, known.since_latest_ms,
                       seen.since_ms);
  }
  return version_difference(expected, seen.version);
}

// The entry of the trash that a known one must be; null if there is none.
const index::Trashed* same_in(const Seen& seen, const Trashed& known) {
  const auto same = std::ranges::find(seen.trash, known.version.etag,
                                      [](const index::Trashed& one) { return one.version.etag; });
  return same == seen.trash.end() ? nullptr : &*same;
}

std::string trash_difference(const State& state, const Seen& seen) {
  if (state.trash.size() != seen.trash.size()) {
    return fmt::format("{} versions in the trash seen as {}", state.trash.size(),
                       seen.trash.size());
  }
  const auto markers = markers_of(state);
  const auto seen_markers = markers_of(seen);
  if (markers.size() != seen_markers.size()) return "another number of markers";
  for (std::size_t i = 0; i < markers.size(); ++i) {
    if (auto why = marker_difference(*markers[i], *seen_markers[i]); !why.empty()) return why;
  }
  for (const Trashed& known : state.trash) {
    if (known.version.is_marker) continue;
    const index::Trashed* same = same_in(seen, known);
    if (same == nullptr) return "trash without " + known.version.etag;
    if (auto why = version_difference(known.version, same->version); !why.empty()) {
      return "trash: " + why;
    }
    if (same->since_ms < known.since_ms || same->since_ms > known.since_latest_ms ||
        same->is_kept() != known.is_kept ||
        (!known.is_kept && same->until_ms - same->since_ms != known.window_ms)) {
      return fmt::format("{} in the trash since {}–{} for {}, seen as {} until {}",
                         known.version.etag, known.since_ms, known.since_latest_ms, known.window_ms,
                         same->since_ms, same->until_ms);
    }
  }
  return {};
}

std::string upload_difference(const Upload& known, const SeenUpload& seen) {
  if (known.attributes != seen.upload.attributes) return "upload with other attributes";
  if (known.parts.size() != seen.parts.size()) {
    return fmt::format("{} parts seen as {}", known.parts.size(), seen.parts.size());
  }
  for (const record::Part& part : seen.parts) {
    const auto same = known.parts.find(part.number);
    if (same == known.parts.end()) return fmt::format("part {} is invented", part.number);
    if (auto why = version_difference(same->second, part.content); !why.empty()) {
      return fmt::format("part {}: {}", part.number, why);
    }
  }
  return {};
}

void adopt_version(Version& known, const record::Version& seen) {
  known.id = seen.id.value();
  known.sequence = seen.sequence.value();
}

const State kNothing{};

}  // namespace

std::string describe(const Operation& operation) {
  std::string text = fmt::format("{} {}:{}", kNames[static_cast<std::size_t>(operation.kind)],
                                 operation.object.bucket.value(), printable(operation.object.key));
  if (operation.version.data) {
    text += fmt::format(" {} ({} bytes)", operation.version.etag, operation.version.data->size());
  }
  if (operation.precondition.must_be_absent) text += " if absent";
  if (operation.precondition.etag) text += " if etag " + *operation.precondition.etag;
  if (operation.precondition.version) {
    text += fmt::format(" if version {}", operation.precondition.version->value());
  }
  if (operation.old_version) text += fmt::format(" version {}", operation.old_version->value());
  if (operation.upload.value() != 0) text += fmt::format(" upload {}", operation.upload.value());
  if (operation.part != 0) text += fmt::format(" part {}", operation.part);
  for (const auto& choice : operation.choices)
    text += fmt::format(" [{} {}]", choice.number, choice.etag);
  if (operation.kind == Kind::put_bucket) {
    text += fmt::format(
        " durability {} versioning {} window {} ms", static_cast<int>(operation.bucket.durability),
        static_cast<int>(operation.bucket.versioning), operation.bucket.undo_window_ms);
  }
  return text;
}

const Trashed* restorable(const Operation& operation, const State& state) {
  const Trashed* best = nullptr;
  for (const Trashed& one : state.trash) {
    if (one.version.is_marker) continue;
    if (!one.is_kept && one.since_ms + one.window_ms <= operation.at_ms) continue;
    if (operation.old_version && one.version.id != operation.old_version->value()) continue;
    const auto age = [](const Trashed& t) { return std::pair(t.since_ms, t.version.sequence); };
    if (best == nullptr || age(one) > age(*best)) best = &one;
  }
  return best;
}

Result<State> apply(const Operation& operation, const State& before) {
  State state = before;
  const bool needs_bucket = operation.kind != Kind::remove && operation.kind != Kind::abort &&
                            operation.kind != Kind::purge && operation.kind != Kind::put_bucket &&
                            operation.kind != Kind::remove_version &&
                            operation.kind != Kind::remove_bucket;
  if (needs_bucket && !operation.bucket_is_there) return fail(Errc::not_found);
  switch (operation.kind) {
    case Kind::put:
      LEAT_DO(check(operation.precondition, state.current));
      make_current(state, operation, operation.version);
      return state;
    case Kind::revise: return revise(operation, std::move(state));
    case Kind::remove_version: return remove_version(operation, std::move(state));
    case Kind::remove:
      LEAT_DO(check(operation.precondition, state.current));
      if (operation.versioning != record::Versioning::off && operation.bucket_is_there) {
        return mark_deleted(operation, std::move(state));
      }
      if (!state.current) return fail(Errc::not_found);
      retire(state, operation, operation.at_ms, operation.at_latest_ms);
      return state;
    case Kind::restore: return restore(operation, std::move(state));
    case Kind::begin_upload:
      state.uploads[operation.upload.value()] = {.attributes = operation.attributes, .parts = {}};
      return state;
    case Kind::put_part:
    case Kind::abort: return change_upload(operation, std::move(state));
    case Kind::complete: return complete(operation, std::move(state));
    case Kind::purge:
      std::erase_if(state.trash, [&](const Trashed& one) {
        return one.version.id == operation.old_version->value();
      });
      return state;
    case Kind::put_bucket: state.bucket = operation.bucket; return state;
    case Kind::remove_bucket:
      if (!state.bucket) return fail(Errc::not_found);
      state.bucket.reset();
      return state;
  }
  return state;
}

std::string difference(const State& state, const Seen& seen) {
  if (state.current.has_value() != seen.current.has_value()) {
    return state.current ? "absent instead of " + state.current->etag
                         : "there, as " + seen.current->etag + ", instead of absent";
  }
  if (state.current) {
    if (auto why = version_difference(*state.current, *seen.current); !why.empty()) return why;
  }
  if (auto why = trash_difference(state, seen); !why.empty()) return why;
  if (state.uploads.size() != seen.uploads.size()) {
    return fmt::format("{} uploads seen as {}", state.uploads.size(), seen.uploads.size());
  }
  for (const auto& [id, upload] : state.uploads) {
    const auto same = seen.uploads.find(id);
    if (same == seen.uploads.end()) return fmt::format("without upload {}", id);
    if (auto why = upload_difference(upload, same->second); !why.empty()) return why;
  }
  if (state.bucket != seen.bucket) return "another bucket";
  return {};
}

void adopt(State& state, const Seen& seen) {
  if (state.current) adopt_version(*state.current, *seen.current);
  const auto seen_markers = markers_of(seen);
  std::size_t marker = 0;
  for (Trashed& known : state.trash) {
    const index::Trashed* same =
        known.version.is_marker ? seen_markers[marker++] : same_in(seen, known);
    adopt_version(known.version, same->version);
    known.version.modified_ms = same->version.modified_ms;
    known.since_ms = same->since_ms;
    known.since_latest_ms = same->since_ms;
  }
  for (auto& [id, upload] : state.uploads) {
    for (const record::Part& part : seen.uploads.at(id).parts)
      adopt_version(upload.parts.at(part.number), part.content);
  }
}

const State& History::last(const record::ObjectKey& object) const {
  const auto found = keys_.find(object);
  return found == keys_.end() ? kNothing : found->second.back().state;
}

State& History::edit_last(const record::ObjectKey& object) {
  std::vector<Step>& steps = keys_[object];
  if (steps.empty()) steps.emplace_back();
  return steps.back().state;
}

void History::add(const record::ObjectKey& object, Step step) {
  std::vector<Step>& steps = keys_[object];
  if (steps.empty()) steps.emplace_back();
  steps.push_back(std::move(step));
}

void History::sync(std::uint64_t covers, std::uint64_t answered) {
  if (keeps_all_) {
    syncs_.push_back({.covers = covers, .answered = answered});
    return;
  }
  for (auto& [object, steps] : keys_) {
    const auto is_younger = [covers](const Step& step) { return step.answered > covers; };
    const auto first = std::ranges::find_if(steps.begin() + 1, steps.end(), is_younger);
    steps.erase(steps.begin(), first - 1);
  }
}

void History::sync_group(Instant until) {
  std::uint64_t covered = 0;
  for (const auto& [object, steps] : keys_) {
    for (const Step& step : steps) {
      const bool is_safe = step.durability == record::Durability::group && step.answered_at < until;
      if (is_safe) covered = std::max(covered, step.answered);
    }
  }
  if (covered > 0) sync(covered, covered);
}

std::size_t History::durable_step(const std::vector<Step>& steps, std::uint64_t position) const {
  std::uint64_t covered = 0;
  for (const Sync& one : syncs_) {
    if (one.answered <= position) covered = std::max(covered, one.covers);
  }
  std::size_t durable = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const bool is_synced =
        steps[i].durability == record::Durability::sync && steps[i].answered <= position;
    if (is_synced || steps[i].answered <= covered) durable = i;
  }
  return durable;
}

std::vector<const Step*> History::allowed(const record::ObjectKey& object,
                                          std::uint64_t position) const {
  const std::vector<Step>& steps = keys_.at(object);
  std::vector<const Step*> all;
  for (std::size_t i = durable_step(steps, position); i < steps.size(); ++i) {
    if (all.empty() || steps[i].called <= position) all.push_back(&steps[i]);
  }
  return all;
}

void History::settle(const record::ObjectKey& object, State state) {
  std::vector<Step>& steps = keys_[object];
  steps.clear();
  steps.push_back({.state = std::move(state)});
}

std::vector<std::string> reference_list(const index::ListRequest& request,
                                        const std::vector<std::string>& sorted_keys) {
  // Behind a group there is nothing of the group.
  std::string passed;
  if (!request.delimiter.empty() && request.after.starts_with(request.prefix)) {
    const std::size_t cut = request.after.find(request.delimiter, request.prefix.size());
    const bool is_group =
        cut != std::string::npos && cut + request.delimiter.size() == request.after.size();
    if (is_group) passed = request.after;
  }
  std::vector<std::string> items;
  for (const std::string& key : sorted_keys) {
    if (!key.starts_with(request.prefix) || key <= request.after) continue;
    std::string name = key;
    if (!request.delimiter.empty()) {
      const std::size_t cut = key.find(request.delimiter, request.prefix.size());
      if (cut != std::string::npos) name = key.substr(0, cut + request.delimiter.size());
    }
    if (!passed.empty() && name == passed) continue;
    if (items.empty() || items.back() != name) items.push_back(std::move(name));
  }
  return items;
}

}  // namespace leat::model
