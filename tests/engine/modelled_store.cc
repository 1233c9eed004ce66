#include "engine/modelled_store.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::model {
namespace {

constexpr std::array<std::string_view, 5> kChores = {"reclaim", "compact", "collect_orphans",
                                                     "checkpoint", "sync"};

rt::Task<record::Version> without_version(rt::Task<void> task) {
  LEAT_CO_DO(co_await std::move(task));
  co_return record::Version{};
}

template <class T>
rt::Task<void> without_value(rt::Task<T> task) {
  LEAT_CO_DO(co_await std::move(task));
  co_return Status{};
}

bool is_upload_kind(Kind kind) {
  return kind == Kind::begin_upload || kind == Kind::put_part || kind == Kind::abort;
}

record::Version stored(const Version& version) {
  return {.id = record::VersionId(version.id),
          .sequence = {},
          .is_versioned = version.is_versioned,
          .size_bytes = version.data->size(),
          .modified_ms = version.modified_ms,
          .etag = version.etag,
          .attributes = version.attributes,
          .place = {}};
}

}  // namespace

ModelledStore::ModelledStore(std::uint64_t seed, log::Logger& logger,
                             const volume::VolumeOptions& options, bool keeps_history)
    : world_(seed, logger, options), history_(keeps_history), keeps_history_(keeps_history) {}

void ModelledStore::fail_with(std::string what) {
  if (failure_.empty()) failure_ = std::move(what);
}

void ModelledStore::note(std::string what) {
  notes_.push_back(fmt::format("{:>4} {}", notes_.size() + 1, what));
}

void ModelledStore::open() {
  if (const Status opened = world_.open(); !opened) fail_with(opened.error().message());
  if (keeps_history_) world_.disk().start_log();
}

std::int64_t ModelledStore::now_ms() {
  const auto since = world_.world().clock("node").wall_now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

std::uint64_t ModelledStore::position() {
  return keeps_history_ ? world_.disk().log().size() : ++position_;
}

const record::Bucket* ModelledStore::bucket(record::BucketId id) const {
  const State& state = history_.last({.bucket = id, .key = ""});
  return state.bucket ? &*state.bucket : nullptr;
}

std::vector<std::string> ModelledStore::keys_in(record::BucketId bucket) const {
  std::vector<std::string> keys;
  for (const auto& [object, steps] : history_.keys()) {
    if (object.bucket == bucket && steps.back().state.current) keys.push_back(object.key);
  }
  return keys;
}

std::vector<std::string> ModelledStore::histories_in(record::BucketId bucket) const {
  std::vector<std::string> keys;
  for (const auto& [object, steps] : history_.keys()) {
    const State& state = steps.back().state;
    const bool is_there = state.current || std::ranges::any_of(state.trash, &Trashed::is_kept);
    if (object.bucket == bucket && is_there) keys.push_back(object.key);
  }
  return keys;
}

std::size_t ModelledStore::running_on(const record::ObjectKey& object) const {
  std::size_t count = 0;
  for (const RunningPtr& running : running_) {
    if (running->operation && running->operation->object == object) ++count;
    for (const Operation& purge : running->purges) {
      if (purge.object == object) count += 2;
    }
  }
  return count;
}

void ModelledStore::start(Operation operation) {
  const record::Bucket* in = bucket(operation.object.bucket);
  operation.bucket_is_there = in != nullptr;
  operation.window_ms = in != nullptr ? in->undo_window_ms : 0;
  operation.versioning = in != nullptr ? in->versioning : record::Versioning::off;
  const bool is_pinned =
      in == nullptr || operation.object.key.empty() || operation.kind == Kind::begin_upload;
  operation.durability = is_pinned ? record::Durability::sync : in->durability;
  operation.at_ms = now_ms();
  operation.at_latest_ms = operation.at_ms;
  auto running = std::make_shared<Running>();
  running->operation = std::move(operation);
  running->called = position();
  running->boot = boot_;
  running->disk_had_failed = world_.volume().failure().has_value();
  note(describe(*running->operation));
  running_.push_back(running);
  world_.world().spawn(perform(running), [](const Status&) {});
}

void ModelledStore::start(Chore chore) {
  auto running = std::make_shared<Running>();
  running->chore = chore;
  running->called = position();
  running->boot = boot_;
  running->disk_had_failed = world_.volume().failure().has_value();
  if (chore == Chore::reclaim) {
    const std::int64_t now = now_ms();
    for (const auto& [object, steps] : history_.keys()) {
      for (const Trashed& one : steps.back().state.trash) {
        if (one.is_kept || one.since_ms + one.window_ms > now) continue;
        running->purges.push_back({.kind = Kind::purge,
                                   .object = object,
                                   .old_version = record::VersionId(one.version.id),
                                   .durability = record::Durability::relaxed});
      }
    }
  }
  note(std::string(kChores[static_cast<std::size_t>(chore)]));
  running_.push_back(running);
  world_.world().spawn(perform(running), [](const Status&) {});
}

void ModelledStore::run_all() {
  const bool done = world_.world().run_until([this] { return running_.empty(); });
  if (!done) fail_with("an operation is never answered");
}

rt::Task<void> ModelledStore::perform(RunningPtr running) {
  if (running->operation) {
    const auto answer = co_await call(*running->operation);
    if (running->boot == boot_) finish(*running, answer);
  } else {
    const std::int64_t now = now_ms();
    const Status answer = co_await call(running->chore, now);
    if (running->boot == boot_) finish(*running, answer);
  }
  running_.remove(running);
  co_return Status{};
}

rt::Task<void> ModelledStore::call(Chore chore, std::int64_t now) {
  volume::Volume& volume = world_.volume();
  switch (chore) {
    case Chore::reclaim: return without_value(volume.reclaim(now));
    case Chore::compact: return without_value(volume.compact());
    case Chore::collect_orphans: return without_value(volume.collect_orphans());
    case Chore::checkpoint: return volume.checkpoint();
    case Chore::sync: break;
  }
  return volume.sync();
}

rt::Task<record::Version> ModelledStore::call(const Operation& operation) {
  volume::Volume& volume = world_.volume();
  switch (operation.kind) {
    case Kind::put: return call_put(operation);
    case Kind::revise: return call_revise(operation);
    case Kind::remove:
      return without_version(
          without_value(volume.remove(operation.object, operation.precondition)));
    case Kind::remove_version:
      return without_version(
          without_value(volume.remove_version(operation.object, *operation.old_version, {})));
    case Kind::restore: return volume.restore(operation.object, operation.old_version);
    case Kind::begin_upload: {
      record::Upload upload{
          .id = operation.upload, .object = operation.object, .attributes = operation.attributes};
      return without_version(volume.begin_upload(std::move(upload)));
    }
    case Kind::put_part: return call_part(operation);
    case Kind::complete: return call_complete(operation);
    case Kind::abort:
      return without_version(volume.abort_upload(operation.object, operation.upload));
    case Kind::put_bucket: return without_version(volume.put_bucket(operation.bucket));
    case Kind::remove_bucket: return without_version(volume.remove_bucket(operation.object.bucket));
    case Kind::purge: break;
  }
  return without_version(volume.sync());
}

rt::Task<record::Version> ModelledStore::call_put(const Operation& operation) {
  const std::string& data = *operation.version.data;
  volume::NewVersion fresh{
      .object = operation.object, .version = stored(operation.version), .data = {}};
  if (data.size() <= world_.options().small_max_bytes) {
    fresh.data = record::sum_blocks({as_bytes(data)});
  } else {
    LEAT_CO_TRY(fresh.version.place, co_await world_.write_files_task(operation.object, data));
  }
  volume::Precondition precondition = operation.precondition;
  co_return co_await world_.volume().put(fresh, std::move(precondition));
}

// As whoever revises does: finds the version, and again if somebody else was faster.
rt::Task<record::Version> ModelledStore::call_revise(const Operation& operation) {
  const std::string& data = *operation.version.data;
  const record::VersionId id(operation.version.id);
  record::Sequence tried{};
  for (;;) {
    const index::Index& index = world_.volume().index();
    LEAT_CO_TRY(const auto current, index.find(operation.object));
    LEAT_CO_TRY(const auto kept, index.find_kept(operation.object, id));
    std::optional<record::Version> found = current;
    if (kept) found = kept->version;
    const bool is_small = data.size() <= world_.options().small_max_bytes;
    if (!found && !is_small) co_return fail(Errc::precondition_failed);
    volume::NewVersion fresh{
        .object = operation.object, .version = stored(operation.version), .data = {}};
    // What is not there any more is asked for all the same: the answer keeps its place in the
    // order.
    if (found) fresh.version.sequence = found->sequence;
    if (is_small) {
      fresh.data = record::sum_blocks({as_bytes(data)});
    } else {
      fresh.version.place = found->place;
    }
    auto revised = co_await world_.volume().revise(fresh);
    const bool is_overtaken = !revised && revised.error().code() == Errc::precondition_failed &&
                              found && found->id == id && found->sequence != tried;
    if (!is_overtaken) co_return revised;
    tried = found->sequence;
  }
}

rt::Task<record::Version> ModelledStore::call_part(const Operation& operation) {
  const std::string& data = *operation.version.data;
  record::Part part{
      .upload = operation.upload, .number = operation.part, .content = stored(operation.version)};
  LEAT_CO_TRY(part.content.place, co_await world_.write_files_task(operation.object, data));
  record::ObjectKey object = operation.object;
  LEAT_CO_DO(co_await world_.volume().put_part(std::move(object), std::move(part)));
  co_return record::Version{};
}

rt::Task<record::Version> ModelledStore::call_complete(const Operation& operation) {
  volume::Completion completion{.object = operation.object,
                                .upload = operation.upload,
                                .parts = operation.choices,
                                .etag = operation.version.etag,
                                .modified_ms = operation.version.modified_ms};
  volume::Precondition precondition = operation.precondition;
  co_return co_await world_.volume().complete_upload(std::move(completion),
                                                     std::move(precondition));
}

bool ModelledStore::is_excused(Errc code) const {
  return faulty_ && (code == Errc::io || code == Errc::no_space || code == Errc::unavailable ||
                     code == Errc::corrupt || code == Errc::busy);
}

void ModelledStore::add_step(const Operation& operation, State state, std::uint64_t called) {
  const std::uint64_t answered = position();
  history_.add(operation.object, {.state = std::move(state),
                                  .called = called,
                                  .answered = answered,
                                  .answered_at = world_.world().now(),
                                  .durability = operation.durability});
  if (operation.durability == record::Durability::sync) history_.sync(answered, answered);
}

void ModelledStore::finish(const Running& running, const Result<record::Version>& answer) {
  Operation operation = *running.operation;
  operation.at_latest_ms = std::max(operation.at_ms, now_ms());
  // Whether a bucket is empty is the other keys' business.
  auto expected = apply(operation, history_.last(operation.object));
  if (operation.kind == Kind::remove_bucket && expected) {
    for (const auto& [object, steps] : history_.keys()) {
      const State& state = steps.back().state;
      const bool is_held = state.current || !state.uploads.empty() ||
                           std::ranges::any_of(state.trash, &Trashed::is_kept);
      if (object.bucket == operation.object.bucket && is_held) expected = fail(Errc::conflict);
    }
  }
  if (!answer) {
    if (!expected && expected.error().code() == answer.error().code()) return;
    if (is_excused(answer.error().code())) return finish_failed(running, answer.error());
    return fail_with(fmt::format("{}: answered {}, expected {}", describe(operation),
                                 answer.error().message(),
                                 expected ? "success" : expected.error().message()));
  }
  if (!expected) {
    return fail_with(fmt::format("{}: answered with success, expected {}", describe(operation),
                                 expected.error().message()));
  }
  State state = std::move(*expected);
  const bool names_version = !is_upload_kind(operation.kind) && answer->id.value() != 0;
  const bool is_of_current =
      operation.kind != Kind::revise || (state.current && state.current->etag == answer->etag);
  if (names_version && is_of_current) {
    state.current->id = answer->id.value();
    state.current->sequence = answer->sequence.value();
  }
  add_step(operation, std::move(state), running.called);
  if (running_.size() == 1) verify_settled(operation.object);
}

// After an answer that no other operation can have overtaken the index holds the same.
void ModelledStore::verify_settled(const record::ObjectKey& object) {
  if (object.key.empty() || faulty_) return;
  const index::Index& index = world_.volume().index();
  const auto current = index.find(object);
  const auto trash = index.find_trash(object);
  if (!current || !trash) return fail_with("the index cannot be read");
  State& state = history_.edit_last(object);
  Seen seen{.current = *current, .trash = *trash};
  for (const auto& [id, upload] : state.uploads) {
    const auto found = index.find_upload(object, record::UploadId(id));
    const auto parts = index.find_parts(record::UploadId(id));
    if (!found || !parts) return fail_with("the index cannot be read");
    if (*found) seen.uploads[id] = {.upload = **found, .parts = *parts};
  }
  if (auto why = difference(state, seen); !why.empty()) return fail_with("after it: " + why);
  adopt(state, seen);
}

void ModelledStore::finish_failed(const Running& running, const Error& /*error*/) {
  // A disk that had failed before does nothing; one that failed meanwhile may have done it.
  if (running.disk_had_failed || !world_.volume().failure()) return;
  maybe_.emplace_back(*running.operation, running.called);
}

void ModelledStore::finish(const Running& running, const Status& answer) {
  if (!answer && !is_excused(answer.error().code())) {
    return fail_with(fmt::format("{}: {}", kChores[static_cast<std::size_t>(running.chore)],
                                 answer.error().message()));
  }
  if (answer && running.chore == Chore::reclaim) {
    for (const Operation& purge : running.purges) {
      State state = *apply(purge, history_.last(purge.object));
      add_step(purge, std::move(state), running.called);
    }
  } else if (running.chore == Chore::reclaim) {
    // Some of it may have happened.
    for (const Operation& purge : running.purges)
      maybe_.emplace_back(purge, running.called);
  } else if (answer && running.chore != Chore::compact && running.chore != Chore::collect_orphans) {
    history_.sync(running.called, position());
  }
}

std::vector<Operation> ModelledStore::unanswered(const record::ObjectKey& object) const {
  std::vector<Operation> all;
  for (const auto& [operation, called] : maybe_) {
    if (operation.object == object) all.push_back(operation);
  }
  for (const RunningPtr& running : running_) {
    if (running->operation && running->operation->object == object) {
      all.push_back(*running->operation);
    }
    for (const Operation& purge : running->purges) {
      if (purge.object == object) all.push_back(purge);
    }
  }
  return all;
}

// Where the key may be: at a step since the last durable one, or beyond the last step by some of
// the operations that were not answered, in some order.
std::vector<ModelledStore::Candidate> ModelledStore::candidates(
    const record::ObjectKey& object) const {
  std::vector<Candidate> all;
  const auto found = history_.keys().find(object);
  if (found == history_.keys().end()) {
    all.push_back({});
  } else {
    for (const Step& step : found->second)
      all.push_back({.state = step.state, .called = step.called});
  }
  struct Path {
    State state;
    std::vector<Operation> left;
  };
  std::vector<Path> open{{all.back().state, unanswered(object)}};
  constexpr std::size_t kMost = 5000;
  while (!open.empty() && all.size() < kMost) {
    const Path path = std::move(open.back());
    open.pop_back();
    for (std::size_t i = 0; i < path.left.size(); ++i) {
      Operation operation = path.left[i];
      // It may have run at any time until now.
      operation.at_latest_ms = std::max<std::int64_t>(operation.at_ms + 60'000, 0);
      auto next = apply(operation, path.state);
      if (!next) continue;
      std::vector<Operation> left = path.left;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back({.state = *next, .called = 0});
      open.push_back({.state = std::move(*next), .left = std::move(left)});
    }
  }
  return all;
}

void ModelledStore::end_process(Ending ending, sim::CrashOptions crash) {
  if (ending == Ending::clean || ending == Ending::rebuild) {
    run_all();
    verify();
    const bool had_failed = world_.volume().failure().has_value();
    const Status closed = world_.close();
    if (!closed && !is_excused(closed.error().code())) {
      fail_with("close: " + closed.error().message());
    }
    if (closed && !had_failed) {
      const std::uint64_t now = position();
      history_.sync(now, now);
    }
    return;
  }
  constexpr Duration kGroupSlack = std::chrono::milliseconds(5);
  const Instant safe = world_.world().now() - world_.options().group_window - kGroupSlack;
  if (!faulty_) history_.sync_group(safe);
  unsure_.clear();
  for (const auto& [object, steps] : history_.keys())
    unsure_[object] = candidates(object);
  for (const RunningPtr& running : running_) {
    if (running->operation)
      unsure_[running->operation->object] = candidates(running->operation->object);
  }
  for (const auto& [operation, called] : maybe_)
    unsure_[operation.object] = candidates(operation.object);
  ++boot_;  // answers that come from now on are never heard
  if (ending == Ending::kill) {
    world_.kill();
  } else {
    world_.cut_power(crash);
  }
  running_.clear();
}

void ModelledStore::reboot(Ending ending, sim::CrashOptions crash) {
  constexpr std::array<std::string_view, 4> kEndings = {"clean reboot", "rebuild of the index",
                                                        "kill", "power cut"};
  constexpr std::array<std::string_view, 4> kModes = {"drop unsynced", "keep all",
                                                      "keep random subset", "torn"};
  std::string text(kEndings[static_cast<std::size_t>(ending)]);
  if (ending == Ending::power_cut) {
    text += fmt::format(", {}, tear {} garbage {}, {} running",
                        kModes[static_cast<std::size_t>(crash.mode)], crash.tear_bytes,
                        crash.garbage, running_.size());
  }
  note(text);
  unsure_.clear();
  end_process(ending, crash);
  if (has_failed()) return;
  if (unsure_.empty()) {
    for (const auto& [object, steps] : history_.keys())
      unsure_[object] = candidates(object);
    for (const auto& [operation, called] : maybe_)
      unsure_[operation.object] = candidates(operation.object);
  }
  world_.disk().faults().clear();
  world_.disk().set_capacity(sim::SimDisk::kDefaultCapacityBytes);
  const Status opened = ending == Ending::rebuild ? world_.rebuild() : world_.open();
  if (!opened) return fail_with("it does not open: " + opened.error().message());
  faulty_ = false;
  maybe_.clear();
  const auto holdings = look(world_);
  if (!holdings) return fail_with("the index cannot be read: " + holdings.error().message());
  settle_all(*holdings);
  verify_bytes();
}

Result<Holdings> ModelledStore::look(test::VolumeWorld& world) {
  const volume::Volume& volume = world.volume();
  LEAT_TRY(auto holdings, read_holdings(volume.kv(), volume.index()));
  // A disk that has failed may have counted what it then could not store; nobody asks it again.
  std::vector<std::string> problems;
  if (!volume.failure()) problems = audit(holdings, volume.index());
  if (!faulty_) {
    for (std::string& problem : audit_files(holdings, world.disk(), volume.folders()))
      problems.push_back(std::move(problem));
  }
  if (!problems.empty()) fail_with("audit: " + problems.front());
  return holdings;
}

void ModelledStore::settle_all(const Holdings& holdings) {
  std::uint64_t survived = 0;
  lost_.clear();
  for (const auto& [object, seen] : holdings.keys)
    settle(object, seen, survived);
  std::vector<record::ObjectKey> absent;
  for (const auto& [object, candidates] : unsure_) {
    if (!holdings.keys.contains(object)) absent.push_back(object);
  }
  for (const record::ObjectKey& object : absent)
    settle(object, Seen{}, survived);
  for (const Lost& lost : lost_) {
    if (lost.answered > survived) continue;
    fail_with(fmt::format("{} lost what was answered before something that survived",
                          describe({.object = lost.object})));
  }
}

void ModelledStore::settle(const record::ObjectKey& object, const Seen& seen,
                           std::uint64_t& survived) {
  const auto found = unsure_.find(object);
  const std::vector<Candidate> none(1);
  const std::vector<Candidate>& allowed = found == unsure_.end() ? none : found->second;
  std::string why;
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const std::string differs = difference(allowed[i].state, seen);
    if (differs.empty()) fitting.push_back(i);
    why += fmt::format("\n    state {} of {}: {}", i, allowed.size(), differs);
  }
  if (fitting.empty()) {
    return fail_with(
        fmt::format("{} is in no state that it may be in: {}", describe({.object = object}), why));
  }
  const std::size_t at = fitting.back();
  // A state that a key was in twice says nothing about the order of things.
  if (fitting.size() == 1) {
    survived = std::max(survived, allowed[at].called);
    const auto steps = history_.keys().find(object);
    if (steps != history_.keys().end() && at + 1 < steps->second.size()) {
      lost_.push_back({.object = object, .answered = steps->second[at + 1].answered});
    }
  }
  State state = allowed[at].state;
  adopt(state, seen);
  history_.settle(object, std::move(state));
}

void ModelledStore::verify() {
  if (has_failed()) return;
  const auto holdings = look(world_);
  if (!holdings) {
    if (is_excused(holdings.error().code())) return;
    return fail_with("the index cannot be read: " + holdings.error().message());
  }
  std::set<record::ObjectKey> all;
  for (const auto& [object, seen] : holdings->keys)
    all.insert(object);
  for (const auto& [object, steps] : history_.keys())
    all.insert(object);
  for (const record::ObjectKey& object : all) {
    const auto found = holdings->keys.find(object);
    const Seen seen = found == holdings->keys.end() ? Seen{} : found->second;
    const std::string why = difference(history_.last(object), seen);
    const bool may_be_purged =
        std::ranges::any_of(maybe_, [&](const auto& one) { return one.first.object == object; });
    if (!why.empty() && may_be_purged) continue;
    if (!why.empty()) {
      return fail_with(fmt::format("{}: {}", describe({.object = object}), why));
    }
    if (history_.keys().contains(object)) adopt(history_.edit_last(object), seen);
  }
}

void ModelledStore::verify_content(test::VolumeWorld& world, const record::Version& seen,
                                   const Version& known) {
  const auto read = world.read(seen, {.offset = 0, .length = seen.size_bytes});
  if (!read) {
    if (is_excused(read.error().code())) return;
    return fail_with(fmt::format("{} cannot be read: {}", known.etag, read.error().message()));
  }
  if (*read != *known.data) fail_with(fmt::format("{} has wrong bytes", known.etag));
}

void ModelledStore::verify_state(test::VolumeWorld& world, const Seen& seen, const State& state) {
  if (state.current) verify_content(world, *seen.current, *state.current);
  for (const Trashed& known : state.trash) {
    for (const index::Trashed& one : seen.trash) {
      if (!known.version.is_marker && one.version.etag == known.version.etag) {
        verify_content(world, one.version, known.version);
      }
    }
  }
  for (const auto& [id, upload] : seen.uploads) {
    for (const record::Part& part : upload.parts)
      verify_content(world, part.content, state.uploads.at(id).parts.at(part.number));
  }
}

void ModelledStore::verify_bytes() {
  if (has_failed()) return;
  const auto holdings = look(world_);
  if (!holdings) {
    if (is_excused(holdings.error().code())) return;
    return fail_with("the index cannot be read: " + holdings.error().message());
  }
  for (const auto& [object, seen] : holdings->keys)
    verify_state(world_, seen, history_.last(object));
}

void ModelledStore::get(const record::ObjectKey& object, io::Rng& rng) {
  const State& state = history_.last(object);
  const auto found = world_.find(object);
  if (!found) {
    if (!is_excused(found.error().code())) fail_with("find: " + found.error().message());
    return;
  }
  if (found->has_value() != state.current.has_value()) {
    return fail_with(describe({.object = object}) + ": found is not what it should be");
  }
  if (!state.current) return;
  const std::uint64_t size = state.current->data->size();
  const std::uint64_t offset = size == 0 ? 0 : rng.below(size);
  const std::uint64_t length = size == 0 ? 0 : rng.below(size - offset + 1);
  const auto read = world_.read(**found, {.offset = offset, .length = length});
  if (!read) {
    if (!is_excused(read.error().code())) fail_with("read: " + read.error().message());
    return;
  }
  if (*read != std::string_view(*state.current->data).substr(offset, length)) {
    fail_with(
        fmt::format("{}: wrong bytes in {} + {}", describe({.object = object}), offset, length));
  }
}

void ModelledStore::list_histories(const index::ListRequest& request) {
  const auto expected = reference_list(request, histories_in(request.bucket));
  index::HistoryRequest wanted{.bucket = request.bucket,
                               .prefix = request.prefix,
                               .delimiter = request.delimiter,
                               .after = request.after,
                               .max = request.max};
  std::vector<std::string> items;
  do {
    const auto page = world_.volume().index().list_histories(wanted);
    if (!page) {
      if (!is_excused(page.error().code())) fail_with("histories: " + page.error().message());
      return;
    }
    for (const index::History& history : page->items) {
      items.push_back(history.name);
      if (history.is_group) continue;
      const State& state = history_.last({.bucket = request.bucket, .key = history.name});
      const auto kept =
          static_cast<std::size_t>(std::ranges::count_if(state.trash, &Trashed::is_kept));
      const bool is_sorted =
          std::ranges::is_sorted(history.kept, std::ranges::greater{},
                                 [](const index::Trashed& one) { return one.version.id; });
      if (history.current.has_value() != state.current.has_value() || !is_sorted ||
          history.kept.size() != kept) {
        return fail_with("the history of " + describe({.object = {request.bucket, history.name}}) +
                         " is another");
      }
    }
    wanted.after = page->next;
    wanted.includes_after = true;
  } while (!wanted.after.empty());
  if (items != expected) {
    fail_with(fmt::format("histories: {} items, expected {}", items.size(), expected.size()));
  }
}

void ModelledStore::list(index::ListRequest request) {
  list_histories(request);
  const auto expected = reference_list(request, keys_in(request.bucket));
  const std::string text =
      fmt::format("list {} prefix '{}' delimiter '{}' after '{}' by {}", request.bucket.value(),
                  request.prefix, request.delimiter, request.after, request.max);
  std::vector<std::string> items;
  for (bool more = true; more;) {
    const auto page = world_.volume().index().list(request);
    if (!page) {
      if (!is_excused(page.error().code())) fail_with(text + ": " + page.error().message());
      return;
    }
    if (page->items.size() > request.max || (page->is_truncated && page->items.empty())) {
      return fail_with(text + ": a page of the wrong size");
    }
    for (const index::ListItem& item : page->items) {
      items.push_back(item.name);
      const State& state = history_.last({.bucket = request.bucket, .key = item.name});
      if (item.version && (!state.current || state.current->etag != item.version->etag)) {
        return fail_with(text + ": another version");
      }
    }
    more = page->is_truncated;
    if (more) request.after = page->items.back().name;
  }
  if (items != expected) {
    fail_with(fmt::format("{}: {} items, expected {}", text, items.size(), expected.size()));
  }
}

void ModelledStore::expect_no_faults() {
  if (!world_.volume().failure() && maybe_.empty()) faulty_ = false;
}

void ModelledStore::verify_damaged() {
  const auto is_right = [this](const record::ObjectKey& object) {
    const State& state = history_.last(object);
    const auto found = world_.find(object);
    if (!found) return found.error().code() == Errc::corrupt;
    if (found->has_value() != state.current.has_value()) return false;
    if (!state.current) return true;
    const auto read = world_.read(**found, {.offset = 0, .length = (*found)->size_bytes});
    return read ? *read == *state.current->data : read.error().code() == Errc::corrupt;
  };
  for (const auto& [object, steps] : history_.keys()) {
    if (object.key.empty() || is_right(object)) continue;
    fail_with(fmt::format("{} is neither right nor corrupt", describe({.object = object})));
  }
}

void ModelledStore::reopen_damaged(Ending ending) {
  if (has_failed()) return;
  note(ending == Ending::rebuild ? "rebuild of the damaged disk" : "reboot of the damaged disk");
  world_.kill();
  const Status opened = ending == Ending::rebuild ? world_.rebuild() : world_.open();
  if (opened) return verify_damaged();
  if (opened.error().code() != Errc::corrupt) {
    fail_with("a damaged disk says " + opened.error().message());
  }
}

void ModelledStore::judge_past(test::VolumeWorld& world, std::uint64_t position) {
  if (const Status opened = world.open(); !opened) {
    return fail_with("it does not open: " + opened.error().message());
  }
  const auto holdings = look(world);
  if (!holdings) return fail_with("the index cannot be read: " + holdings.error().message());
  std::uint64_t survived = 0;
  std::vector<Lost> lost;
  for (const auto& [object, steps] : history_.keys()) {
    const auto found = holdings->keys.find(object);
    const Seen seen = found == holdings->keys.end() ? Seen{} : found->second;
    const auto allowed = history_.allowed(object, position);
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (difference(allowed[i]->state, seen).empty()) fitting.push_back(i);
    }
    if (fitting.empty()) {
      return fail_with(fmt::format("{} is in none of {} states that it may be in; not the last: {}",
                                   describe({.object = object}), allowed.size(),
                                   difference(allowed.back()->state, seen)));
    }
    const std::size_t at = fitting.back();
    if (fitting.size() == 1) {
      survived = std::max(survived, allowed[at]->called);
      if (at + 1 < allowed.size() && allowed[at + 1]->answered <= position) {
        lost.push_back({.object = object, .answered = allowed[at + 1]->answered});
      }
    }
    verify_state(world, seen, allowed[at]->state);
  }
  for (const auto& [object, seen] : holdings->keys) {
    if (!history_.keys().contains(object)) fail_with(describe({.object = object}) + " is invented");
  }
  for (const Lost& one : lost) {
    if (one.answered > survived) continue;
    fail_with(fmt::format("{} lost what was answered before something that survived",
                          describe({.object = one.object})));
  }
}

}  // namespace leat::model
