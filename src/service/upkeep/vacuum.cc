#include "upkeep/vacuum.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "datasets/control_keys.h"
#include "datasets/vacuumed.h"
#include "upkeep/adopt.h"

namespace leat::upkeep {
namespace {

using datasets::CommitRecord;
using datasets::DatasetName;
using datasets::Datasets;
using datasets::Doomed;
using datasets::Opened;
using datasets::Vacuumed;

constexpr std::size_t kPage = 1000;
// What no version names may belong to a commit that is under way.
constexpr std::int64_t kGraceMs = 24LL * 3600 * 1000;
// Of what is published at once, as it is stored; twice as much would not fit.
constexpr std::size_t kDoomedBytes = control::kValueMax / 2;

// How much an entry takes at the most.
std::size_t cost_of(const std::string& key) {
  constexpr std::size_t kAround = 64;
  return key.size() * 4 / 3 + kAround;
}

class Vacuum {
 public:
  Vacuum(Datasets& datasets, DatasetName name, VacuumOptions options)
      : datasets_(datasets), name_(std::move(name)), options_(options) {}

  rt::Task<VacuumReport> run() {
    LEAT_CO_TRY(const Datasets::Head head, co_await datasets_.head(name_));
    datasets::Reference latest{.dataset = name_};
    LEAT_CO_TRY(last_, co_await datasets_.open(std::move(latest)));
    LEAT_CO_TRY(log_, co_await datasets_.log(last_, std::numeric_limits<std::size_t>::max()));
    LEAT_CO_DO(co_await decide());
    if (!options_.is_dry && last_.ref.version != 0) LEAT_CO_DO(co_await tell(head));
    // What comes from here on is seen when the pointers are looked at again.
    LEAT_CO_TRY(found_, co_await datasets_.doomed(name_.bucket));
    LEAT_CO_TRY(seen_, co_await datasets_.pointers(name_.bucket));
    if (!is_last_in(seen_)) co_return changed_meanwhile();
    LEAT_CO_DO(co_await find_needed());
    LEAT_CO_DO(co_await choose_shards());
    LEAT_CO_DO(co_await choose_left_overs());
    LEAT_CO_DO(co_await choose_uncommitted());
    if (options_.is_dry) {
      LEAT_CO_DO(co_await remove_all(doomed_));
    } else {
      LEAT_CO_DO(co_await remove_doomed());
    }
    LEAT_CO_DO(co_await remove_snapshots());
    co_return report_;
  }

 private:
  // Which versions are gone, before anything of them is.
  rt::Task<void> tell(const Datasets::Head& head) {
    std::vector<control::Operation> operations{{.kind = control::Operation::Kind::put,
                                                .key = datasets::vacuumed_key(name_),
                                                .value = encode(vacuumed_)}};
    auto telling = datasets_.change_beside(name_, head, std::move(operations));
    LEAT_CO_TRY(const bool is_told, co_await std::move(telling));
    if (!is_told) co_return changed_meanwhile();
    co_return Status{};
  }

  // Which versions go.
  rt::Task<void> decide() {
    LEAT_CO_TRY(const auto tags, co_await datasets_.tags(name_));
    LEAT_CO_TRY(const auto pins, co_await datasets_.pins(name_));
    std::set<std::uint64_t> named;
    for (const auto& one : tags)
      named.insert(one.version);
    for (const auto& one : pins)
      named.insert(one.version);
    LEAT_CO_TRY(const Vacuumed before, co_await vacuumed_of(name_));
    const std::int64_t now = datasets_.parts().store.now_ms();
    vacuumed_.below = last_.ref.version;
    std::int64_t until = std::numeric_limits<std::int64_t>::max();  // it was the last one
    for (const CommitRecord& record : log_) {
      const bool is_recent =
          until > now || static_cast<std::uint64_t>(now - until) < options_.keep_ms;
      until = record.committed_ms;
      if (before.is_gone(record.version)) {
        gone_.insert(record.version);
      } else if (is_recent || named.contains(record.version)) {
        vacuumed_.kept.insert(record.version);
      } else {
        gone_.insert(record.version);
        report_.versions.push_back(record.version);
      }
    }
    co_return Status{};
  }

  rt::Task<Vacuumed> vacuumed_of(const DatasetName& name) {
    auto& parts = datasets_.parts();
    LEAT_CO_TRY(const auto found,
                co_await parts.control.get(parts.store.shard(), datasets::vacuumed_key(name)));
    if (!found) co_return Vacuumed{};
    co_return datasets::decode_vacuumed(found->value);
  }

  // Shards of versions that stay, of this dataset and of others in the bucket.
  rt::Task<void> find_needed() {
    for (const auto& [name, ref] : seen_) {
      if (name == name_) continue;
      datasets::Reference latest{.dataset = name};
      LEAT_CO_TRY(const Opened last, co_await datasets_.open(std::move(latest)));
      LEAT_CO_TRY(const auto log,
                  co_await datasets_.log(last, std::numeric_limits<std::size_t>::max()));
      LEAT_CO_TRY(const Vacuumed vacuumed, co_await vacuumed_of(name));
      LEAT_CO_DO(co_await need(name, log, vacuumed));
    }
    co_return co_await need(name_, log_, vacuumed_);
  }

  rt::Task<void> need(const DatasetName& name, const std::vector<CommitRecord>& log,
                      const Vacuumed& vacuumed) {
    for (const CommitRecord& record : log) {
      if (vacuumed.is_gone(record.version)) continue;
      Opened opened{.dataset = name, .bucket = last_.bucket, .record = record};
      opened.ref.version = record.version;
      LEAT_CO_TRY(auto keys, co_await shards_of(datasets_, opened));
      needed_.insert(std::make_move_iterator(keys.begin()), std::make_move_iterator(keys.end()));
    }
    co_return Status{};
  }

  // Below the dataset's name: others may be in use by who knows whom.
  rt::Task<void> choose_shards() {
    std::map<std::string, std::int64_t> candidates;  // key to when it was added last
    const std::string own = name_.name + "/";
    for (const CommitRecord& record : log_) {
      for (const std::string& key : record.added) {
        if (key.starts_with(own) && !needed_.contains(key)) {
          candidates.try_emplace(key, record.committed_ms);
        }
      }
    }
    // Most of them went long ago.
    for (const auto& [key, added_ms] : candidates) {
      record::ObjectKey object{.bucket = last_.bucket, .key = key};
      const auto found = co_await datasets_.parts().store.find(std::move(object));
      if (!found && found.error().code() != Errc::not_found) co_return fail(found.error());
      if (found) choose(key, found->version, added_ms);
    }
    co_return Status{};
  }

  void choose(const std::string& key, const record::Version& version, std::int64_t until_ms) {
    if (version.modified_ms <= until_ms) doomed_.try_emplace(key, until_ms);
  }

  // Publishes what goes before it goes, as much at a time as fits (datasets/doomed.h).
  rt::Task<void> remove_doomed() {
    Doomed batch = take_over();
    fill(batch);
    const bool is_any = !batch.objects.empty() || !found_.objects.empty();
    if (!is_any) co_return Status{};
    while (!batch.objects.empty()) {
      LEAT_CO_DO(co_await publish(batch));
      LEAT_CO_TRY(const auto now, co_await datasets_.pointers(name_.bucket));
      if (has_moved(now)) {
        LEAT_CO_DO(co_await retreat());
        co_return changed_meanwhile();
      }
      LEAT_CO_DO(co_await remove_all(batch.objects));
      found_.objects.clear();  // they are gone
      batch.objects.clear();
      fill(batch);
    }
    found_.objects.clear();
    co_return co_await retreat();
  }

  // What a vacuum has published that was killed, or is still at it: that one may go on until it
  // wants to publish more, because nothing of its own is taken back before it is gone.
  Doomed take_over() {
    Doomed batch;
    for (const auto& [key, until_ms] : found_.objects) {
      if (needed_.contains(key)) continue;
      const auto chosen = doomed_.extract(key);
      batch.objects[key] = chosen ? std::max(until_ms, chosen.mapped()) : until_ms;
    }
    return batch;
  }

  void fill(Doomed& batch) {
    std::size_t bytes = 0;
    for (const auto& [key, until_ms] : batch.objects)
      bytes += cost_of(key);
    while (!doomed_.empty() && bytes < kDoomedBytes) {
      bytes += cost_of(doomed_.begin()->first);
      batch.objects.insert(doomed_.extract(doomed_.begin()));
    }
  }

  rt::Task<void> publish(const Doomed& batch) {
    LEAT_CO_TRY(const bool is_done, co_await replace(batch));
    if (is_done) co_return Status{};
    co_return fail(Errc::conflict,
                   fmt::format("another vacuum is under way in {}; try again", name_.bucket));
  }

  // What is published is again as it was found: nothing, unless others have begun and not ended.
  // The entry stays, so that who saw none before sees that there was one.
  rt::Task<void> retreat() {
    if (found_.modified == control::Revision()) co_return Status{};
    // Who has taken over goes on.
    LEAT_CO_DO(co_await replace(found_));
    co_return Status{};
  }

  // False: what is published is not ours.
  rt::Task<bool> replace(const Doomed& doomed) {
    auto& parts = datasets_.parts();
    const std::string key = datasets::doomed_key(name_.bucket);
    control::Txn txn{
        .when = {{.key = key, .number = found_.modified.value()}},
        .then = {{.kind = control::Operation::Kind::put, .key = key, .value = encode(doomed)}}};
    LEAT_CO_TRY(const auto done,
                co_await parts.control.commit(parts.store.shard(), std::move(txn)));
    if (done.held) found_.modified = done.revision;
    co_return done.held;
  }

  bool is_last_in(const Datasets::Pointers& pointers) const {
    const auto own = pointers.find(name_);
    return own != pointers.end() && own->second == last_.ref;
  }

  // Whether a version came that was not asked what it needs. Tags and pins leave pointers as they
  // are, and a dataset that went needs nothing.
  bool has_moved(const Datasets::Pointers& now) const {
    return std::ranges::any_of(now, [this](const auto& one) {
      const auto before = seen_.find(one.first);
      const bool is_same = before != seen_.end() && before->second == one.second;
      return !is_same && one.second.version != 0;
    });
  }

  std::unexpected<Error> changed_meanwhile() const {
    return fail(Errc::conflict, fmt::format("{}, or another dataset of its bucket, was changed "
                                            "meanwhile; try again",
                                            name_.text()));
  }

  rt::Task<void> remove_snapshots() {
    for (const CommitRecord& record : log_) {
      // A record is an object that others may have replaced.
      const bool is_own = record.snapshot.key.starts_with(name_.name + "/_leat/");
      if (!gone_.contains(record.version) || !is_own) continue;
      // It was stored after the record had its time, under a name that nobody else has.
      LEAT_CO_DO(co_await remove(record.snapshot.key, datasets_.parts().store.now_ms()));
    }
    co_return Status{};
  }

  // Of commits that lost, or were killed.
  rt::Task<void> choose_left_overs() {
    std::set<std::string> known{last_.ref.record};
    for (const CommitRecord& record : log_) {
      known.insert(record.parent.record);
      known.insert(record.snapshot.key);
    }
    index::ListRequest request{
        .bucket = last_.bucket, .prefix = name_.name + "/_leat/", .max = kPage};
    const std::int64_t old_ms = datasets_.parts().store.now_ms() - kGraceMs;
    for (bool is_more = true; is_more;) {
      LEAT_CO_TRY(const index::ListPage page, co_await datasets_.parts().store.list(request));
      is_more = page.is_truncated;
      for (const index::ListItem& item : page.items) {
        request.after = item.name;
        const bool is_used = known.contains(item.name) || needed_.contains(item.name);
        if (item.version && !is_used) choose(item.name, *item.version, old_ms);
      }
    }
    co_return Status{};
  }

  // Shards that were made for the dataset, by writers who were killed before they committed. What
  // producers append waits for a commit, however long, also where a rebuild could not tell which
  // life of the dataset it is of: it was acknowledged.
  rt::Task<void> choose_uncommitted() {
    auto& parts = datasets_.parts();
    index::ListRequest request{.bucket = last_.bucket, .prefix = name_.name + "/", .max = kPage};
    const std::int64_t old_ms = parts.store.now_ms() - kGraceMs;
    for (bool is_more = true; is_more;) {
      LEAT_CO_TRY(const index::ListPage page, co_await parts.store.list(request));
      is_more = page.is_truncated;
      for (const index::ListItem& item : page.items) {
        request.after = item.name;
        if (!item.version || !item.name.ends_with(".tar") || needed_.contains(item.name)) continue;
        const bool is_appended = datasets::parse_append_key(name_, item.name).has_value();
        const bool is_ours = datasets::dataset_of(*item.version) == name_.name;
        if (is_ours && !is_appended) choose(item.name, *item.version, old_ms);
      }
    }
    co_return Status{};
  }

  rt::Task<void> remove_all(const std::map<std::string, std::int64_t>& objects) {
    for (const auto& [key, until_ms] : objects)
      LEAT_CO_DO(co_await remove(key, until_ms));
    co_return Status{};
  }

  // An object that was stored not later than `until_ms`: one that came after was not meant.
  rt::Task<void> remove(std::string key, std::int64_t until_ms) {
    store::ShardStore& store = datasets_.parts().store;
    const record::ObjectKey object{.bucket = last_.bucket, .key = std::move(key)};
    auto found = co_await store.find(object);
    if (!found && found.error().code() == Errc::not_found) co_return Status{};
    if (!found) co_return fail(found.error());
    if (found->version.modified_ms > until_ms) co_return Status{};
    ++report_.objects;
    report_.bytes += found->version.size_bytes;
    if (options_.is_dry) co_return Status{};
    // Not by its etag: the same bytes may be stored anew, and committed, right now.
    volume::Precondition same{.version = found->version.id};
    const auto removed = co_await store.remove(object, std::move(same));
    if (!removed && removed.error().code() != Errc::not_found &&
        removed.error().code() != Errc::precondition_failed) {
      co_return fail(removed.error());
    }
    co_return Status{};
  }

  Datasets& datasets_;
  const DatasetName name_;
  const VacuumOptions options_;
  Opened last_;
  Datasets::Pointers seen_;
  Doomed found_;  // what was published before, at the revision that is published now
  std::vector<CommitRecord> log_;
  Vacuumed vacuumed_;
  std::set<std::uint64_t> gone_;
  std::set<std::string> needed_;
  std::map<std::string, std::int64_t> doomed_;  // what goes, and up to which time it was stored
  VacuumReport report_;
};

}  // namespace

rt::Task<VacuumReport> vacuum(Datasets& datasets, DatasetName name, VacuumOptions options) {
  Vacuum one(datasets, std::move(name), options);
  co_return co_await one.run();
}

}  // namespace leat::upkeep
