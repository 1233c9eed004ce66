// Committing: write first, then move the pointers.
#include <fmt/format.h>

#include <algorithm>

#include "datasets/control_keys.h"
#include "datasets/datasets.h"

namespace leat::datasets {
namespace {

// How often another commit may be faster before we give up.
constexpr int kRaces = 20;
// What one transaction of the control store holds.
constexpr std::size_t kDatasetsMax = 32;
constexpr std::size_t kTransactionMax = 200;

Status check(const std::vector<Commit>& commits) {
  if (commits.empty() || commits.size() > kDatasetsMax) {
    return fail(Errc::bad_request, fmt::format("a commit is about 1 to {} datasets", kDatasetsMax));
  }
  std::vector<DatasetName> names;
  for (const Commit& one : commits) {
    names.push_back(one.dataset);
    if (one.transaction.size() > kTransactionMax) {
      return fail(Errc::bad_request,
                  fmt::format("the id of a transaction is longer than {} bytes", kTransactionMax));
    }
    if (one.is_exact && !one.base) {
      return fail(Errc::bad_request, "\"exact\" needs the \"base\" that the commit is made for");
    }
    const bool has_changes = !one.only_adds() || !one.add.empty() || one.appended;
    if (!has_changes) return fail(Errc::bad_request, "the commit changes nothing");
    const bool is_plain = one.add.empty() && one.remove.empty() && one.delete_samples.empty();
    if (one.restore && (!is_plain || one.appended)) {
      return fail(Errc::bad_request, "a version is restored or changed, not both");
    }
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) {
    return fail(Errc::bad_request, "a commit names a dataset twice");
  }
  return {};
}

Status check_base(const Commit& commit, std::uint64_t now) {
  if (!commit.base || *commit.base == now) return {};
  if (commit.only_adds() && !commit.is_exact) return {};
  return fail(Errc::conflict, fmt::format("{} is at version {} now, the changes were made for {}",
                                          commit.dataset.text(), now, *commit.base));
}

// Before anything is written: a version that nobody can open must not become the last one.
Status check_sizes(const Composed& composed, std::string_view record, const VersionLimits& limits) {
  const auto refuse = [](std::string_view what, std::uint64_t size, std::uint64_t max,
                         std::string_view advice) {
    return fail(Errc::too_large, fmt::format("the {} of the version would have {} bytes, {} at "
                                             "most: {}",
                                             what, size, max, advice));
  };
  if (record.size() > limits.record_bytes) {
    return refuse("record", record.size(), limits.record_bytes,
                  "add or remove fewer shards in one commit");
  }
  const std::uint64_t size = composed.snapshot.size();
  if (size > limits.snapshot_bytes) {
    return refuse("snapshot", size, limits.snapshot_bytes,
                  "make several datasets of the samples, or give them shorter keys");
  }
  LEAT_TRY(const std::uint64_t catalog,
           snapshot::resident_bytes(as_bytes(composed.snapshot), size));
  if (catalog > limits.catalog_bytes) {
    return refuse("catalog", catalog, limits.catalog_bytes,
                  "pack the samples into fewer, larger shards");
  }
  return {};
}

}  // namespace

rt::Task<std::optional<Opened>> Datasets::find_transaction(const Commit& commit) {
  if (commit.transaction.empty()) co_return std::nullopt;
  const std::string key = transaction_key(commit.dataset, commit.transaction);
  LEAT_CO_TRY(const auto found, co_await parts_.control.get(shard(), key));
  if (!found) co_return std::nullopt;
  Opened opened{.dataset = commit.dataset};
  LEAT_CO_TRY(opened.bucket, find_bucket(commit.dataset));
  LEAT_CO_TRY(opened.ref, decode_pointer(found->value));
  LEAT_CO_TRY(opened.record, co_await read_version(opened.bucket, opened.ref));
  co_return opened;
}

// All of them, if they were done once; nothing, if none was.
rt::Task<std::vector<Opened>> Datasets::find_transactions(const std::vector<Commit>& commits) {
  std::vector<Opened> opened;
  for (const Commit& one : commits) {
    LEAT_CO_TRY(auto done, co_await find_transaction(one));
    if (done) opened.push_back(*std::move(done));
  }
  if (!opened.empty() && opened.size() < commits.size()) {
    co_return fail(Errc::conflict,
                   fmt::format("{} was committed under this transaction, and others were not",
                               opened.front().dataset.text()));
  }
  co_return opened;
}

rt::Task<Datasets::ShardContent> Datasets::content_of(const store::Found& found) {
  ShardContent content{.size_bytes = found.version.size_bytes};
  if (!shards::is_recipe(found.version)) {
    LEAT_CO_TRY(content.index, co_await parts_.indexes.find(found));
    co_return content;
  }
  LEAT_CO_TRY(const shards::RecipePtr recipe, co_await shards::load_recipe(parts_.store, found));
  LEAT_CO_TRY(std::string index, shard::make_index(recipe->layout));
  LEAT_CO_TRY(content.index, shards::LoadedIndex::open(std::move(index)));
  content.size_bytes = recipe->layout.size_bytes;
  content.is_recipe = true;
  co_return content;
}

rt::Task<Datasets::DoomedByBucket> Datasets::doomed_for(const std::vector<Commit>& commits) {
  DoomedByBucket all;
  for (const Commit& one : commits) {
    if (all.contains(one.dataset.bucket)) continue;
    LEAT_CO_TRY(Doomed of_bucket, co_await doomed(one.dataset.bucket));
    all.emplace(one.dataset.bucket, std::move(of_bucket));
  }
  co_return all;
}

rt::Task<Composed> Datasets::compose_next(const Opened& before, const Commit& commit,
                                          const Doomed& doomed) {
  Opened from = before;
  if (commit.restore) {
    Reference restored{.dataset = commit.dataset, .which = VersionNumber{*commit.restore}};
    LEAT_CO_TRY(from, co_await open(std::move(restored)));
    LEAT_CO_DO(co_await check_kept(from));
  }
  SnapshotPtr loaded;
  if (from.ref.version != 0 && !commit.is_anew) {
    LEAT_CO_TRY(loaded, co_await snapshot(from));
  }
  Changes changes{.removed_shards = {commit.remove.begin(), commit.remove.end()},
                  .deleted_samples = {commit.delete_samples.begin(), commit.delete_samples.end()}};
  std::vector<shards::IndexPtr> indexes;
  for (const std::string& key : commit.add) {
    record::ObjectKey object{.bucket = before.bucket, .key = key};
    auto found = co_await parts_.store.find(std::move(object));
    if (!found)
      co_return fail(found.error().code(),
                     fmt::format("shard {}: {}", key, found.error().detail()));
    if (doomed.holds(key, found->version.modified_ms)) {
      co_return fail(Errc::busy, fmt::format("a vacuum is removing the shard {}; try again when it "
                                             "is over, and vacuum again if it broke off",
                                             key));
    }
    auto content = co_await content_of(*found);
    if (!content)
      co_return fail(content.error().code(),
                     fmt::format("shard {}: {}", key, content.error().detail()));
    indexes.push_back(content->index);
    changes.added.push_back({.entry = {.bucket = commit.dataset.bucket,
                                       .key = key,
                                       .version = std::to_string(found->version.id.value()),
                                       .etag = found->version.etag,
                                       .size_bytes = content->size_bytes,
                                       .is_recipe = content->is_recipe},
                             .index = &indexes.back()->view()});
  }
  // Of a large dataset it takes a while.
  auto composing = parts_.store.kit().pool.run<Composed>(
      [&loaded, &changes] { return compose(loaded ? &loaded->view() : nullptr, changes); });
  co_return co_await std::move(composing);
}

rt::Task<void> Datasets::write(Prepared& prepared, const Composed& composed) {
  Opened& opened = prepared.opened;
  const std::string stem = fmt::format("{}/_leat/{:012}-{:016x}", opened.dataset.name,
                                       opened.record.version, parts_.store.kit().rng.next());
  opened.record.snapshot = {.key = stem + ".snapshot",
                            .size_bytes = composed.snapshot.size(),
                            .fingerprint = composed.fingerprint};
  opened.ref = {.version = opened.record.version,
                .committed_ms = opened.record.committed_ms,
                .record = stem + ".json"};
  const std::string text = encode(opened.record);
  LEAT_CO_DO(check_sizes(composed, text, limits_));
  prepared.keys = {opened.record.snapshot.key, opened.ref.record};
  const std::string_view contents[] = {composed.snapshot, text};
  for (std::size_t i = 0; i < prepared.keys.size(); ++i) {
    record::ObjectKey object{.bucket = opened.bucket, .key = prepared.keys[i]};
    store::PutDetails details;
    LEAT_CO_DO(co_await parts_.store.put_text(std::move(object), contents[i], std::move(details)));
  }
  co_return Status{};
}

rt::Task<Datasets::Prepared> Datasets::prepare(Commit commit, const DoomedByBucket& doomed) {
  Prepared prepared{.commit = std::move(commit)};
  Commit& wanted = prepared.commit;
  LEAT_CO_TRY(prepared.head, co_await head(wanted.dataset));
  const VersionRef& last = prepared.head.ref;
  if (wanted.appended) {
    LEAT_CO_TRY(AppendState state, co_await appends(wanted.dataset));
    // Making the state has moved the pointer. In this order: a state that is older than the version
    // would offer what is in it already.
    LEAT_CO_TRY(prepared.head, co_await head(wanted.dataset));
    LEAT_CO_TRY(state, co_await appends(wanted.dataset));
    LEAT_CO_TRY(auto keys, co_await pending(wanted.dataset, state));
    std::ranges::move(keys, std::back_inserter(wanted.add));
    prepared.appends = std::move(state);
  }
  LEAT_CO_DO(check_base(wanted, last.version));
  if (wanted.add.empty() && wanted.only_adds()) {  // no append waits
    Reference now{.dataset = wanted.dataset};
    LEAT_CO_TRY(prepared.opened, co_await open(std::move(now)));
    prepared.is_unchanged = true;
    co_return prepared;
  }
  Opened before{.dataset = wanted.dataset, .ref = last};
  LEAT_CO_TRY(before.bucket, find_bucket(wanted.dataset));
  CommitRecord& record = prepared.opened.record;
  record.version = last.version + 1;
  // Times grow with versions, also when the clock goes back.
  record.committed_ms = std::max(parts_.store.now_ms(), last.committed_ms + 1);
  if (last.version != 0) {
    LEAT_CO_TRY(before.record, co_await read_version(before.bucket, last));
    std::optional<CommitRecord> far;
    if (const VersionRef link = far_link(before.record); link.version != 0) {
      LEAT_CO_TRY(far, co_await read_version(before.bucket, link));
    }
    link_to(record, before.record, last, far ? &*far : nullptr);
  }
  const Doomed& in_bucket = doomed.at(wanted.dataset.bucket);
  LEAT_CO_TRY(const Composed composed, co_await compose_next(before, wanted, in_bucket));
  record.message = wanted.message;
  record.transaction = wanted.transaction;
  record.samples = composed.samples;
  record.shards = composed.shards;
  record.bytes = composed.bytes;
  record.fields = composed.fields;
  record.added = wanted.add;
  record.removed = wanted.remove;
  record.deleted_samples = composed.deleted_samples;
  record.restored = wanted.restore.value_or(0);
  record.is_anew = wanted.is_anew;
  prepared.opened.dataset = wanted.dataset;
  prepared.opened.bucket = before.bucket;
  const Status written = co_await write(prepared, composed);
  if (!written) {
    LEAT_CO_DO(co_await drop(prepared));
    co_return fail(written.error());
  }
  co_return prepared;
}

// What was written for a version that will not be. What cannot be removed is garbage, not an error.
rt::Task<void> Datasets::drop(const Prepared& prepared) {
  for (const std::string& key : prepared.keys) {
    record::ObjectKey object{.bucket = prepared.opened.bucket, .key = key};
    volume::Precondition none;
    static_cast<void>(co_await parts_.store.remove(std::move(object), std::move(none)));
  }
  co_return Status{};
}

control::Txn Datasets::moves(const std::vector<Prepared>& all, const DoomedByBucket& doomed) const {
  using Kind = control::Operation::Kind;
  control::Txn txn;
  for (const Prepared& one : all) {
    if (one.is_unchanged) continue;
    const std::string key = pointer_key(one.commit.dataset);
    const std::string pointer = encode(one.opened.ref);
    txn.when.push_back({.key = key, .number = one.head.modified.value()});
    txn.then.push_back({.kind = Kind::put, .key = key, .value = pointer});
    if (one.appends) {
      const std::string appends = appends_key(one.commit.dataset);
      txn.when.push_back({.key = appends, .number = one.appends->modified.value()});
      txn.then.push_back({.kind = Kind::put, .key = appends, .value = encode(*one.appends)});
    }
    if (one.commit.transaction.empty()) continue;
    const std::string done = transaction_key(one.commit.dataset, one.commit.transaction);
    txn.when.push_back({.key = done, .number = 0});
    txn.then.push_back({.kind = Kind::put, .key = done, .value = pointer});
  }
  // Who has begun to vacuum meanwhile may have removed a shard that was found.
  for (const auto& [bucket, seen] : doomed)
    txn.when.push_back({.key = doomed_key(bucket), .number = seen.modified.value()});
  return txn;
}

rt::Task<std::vector<Datasets::Prepared>> Datasets::prepare_all(const std::vector<Commit>& commits,
                                                                const DoomedByBucket& doomed) {
  std::vector<Prepared> prepared;
  for (const Commit& one : commits) {
    auto next = co_await prepare(one, doomed);
    if (next) {
      prepared.push_back(*std::move(next));
      continue;
    }
    for (const Prepared& done : prepared)
      LEAT_CO_DO(co_await drop(done));
    co_return fail(next.error());
  }
  co_return prepared;
}

rt::Task<std::vector<Opened>> Datasets::commit(std::vector<Commit> commits) {
  LEAT_CO_DO(check(commits));
  for (int race = 0; race < kRaces; ++race) {
    LEAT_CO_TRY(std::vector<Opened> opened, co_await find_transactions(commits));
    if (!opened.empty()) co_return opened;
    LEAT_CO_TRY(const DoomedByBucket doomed, co_await doomed_for(commits));
    const auto preparing = co_await prepare_all(commits, doomed);
    if (!preparing) {
      // Who has done the same since we looked has left nothing to do.
      LEAT_CO_TRY(opened, co_await find_transactions(commits));
      if (!opened.empty()) co_return opened;
      co_return fail(preparing.error());
    }
    const std::vector<Prepared>& prepared = *preparing;
    for (const Prepared& one : prepared)
      opened.push_back(one.opened);
    control::Txn txn = moves(prepared, doomed);
    if (txn.then.empty()) co_return opened;
    auto moved = co_await parts_.control.commit(shard(), std::move(txn));
    // It may be done or not: what was written must stay.
    if (!moved && moved.error().code() == Errc::outcome_unknown) co_return fail(moved.error());
    if (moved && moved->held) co_return opened;
    for (const Prepared& one : prepared)
      LEAT_CO_DO(co_await drop(one));
    if (!moved) co_return fail(moved.error());
  }
  co_return fail(Errc::busy, "too many others commit to the dataset; try again");
}

}  // namespace leat::datasets
