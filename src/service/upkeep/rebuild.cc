#include "upkeep/rebuild.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "datasets/appends.h"
#include "datasets/control_keys.h"
#include "datasets/vacuumed.h"

namespace leat::upkeep {
namespace {

using datasets::CommitRecord;
using datasets::DatasetName;
using datasets::Datasets;
using datasets::Opened;
using datasets::VersionRef;

constexpr std::size_t kPage = 1000;
constexpr std::string_view kFolder = "/_leat/";

// What a bucket has of one dataset.
struct Traces {
  std::vector<std::string> records{};               // keys
  std::vector<std::string> shards{};                // keys of those that name the dataset
  std::map<std::string, std::int64_t> stored_ms{};  // of these shards
  std::vector<std::string> tombstones{};            // keys
  // Bodies that producers appended: by id of a life of the dataset, and by producer.
  using Producers = std::map<std::string, std::set<std::uint64_t>>;
  std::map<std::string, Producers> appends{};

  // Of what waits for a commit nothing is lost.
  bool tells_more_than(const DatasetName& name, const std::string& waiting) const;
};

bool Traces::tells_more_than(const DatasetName& name, const std::string& waiting) const {
  return !records.empty() || std::ranges::any_of(shards, [&](const std::string& key) {
    const auto append = datasets::parse_append_key(name, key);
    return !append || append->id != waiting;
  });
}

struct Stored {
  std::string key{};
  CommitRecord record{};
  const Stored* first = nullptr;  // where the links to parents end

  VersionRef ref() const {
    return {.version = record.version, .committed_ms = record.committed_ms, .record = key};
  }
};

// One dataset.
class Rebuilding {
 public:
  // `head`: its pointer, if it has one that leads to nothing.
  Rebuilding(Datasets& datasets, DatasetName name, record::BucketId bucket, bool is_dry,
             std::optional<Datasets::Head> head)
      : datasets_(datasets), bucket_(bucket), is_dry_(is_dry), head_(std::move(head)) {
    rebuilt_.dataset = std::move(name);
  }

  rt::Task<Rebuilt> run(const Traces& traces) {
    const Status done = co_await try_all(traces);
    if (!done) {
      rebuilt_.by = Rebuilt::By::nothing;
      rebuilt_.version = 0;
      rebuilt_.samples = 0;
      say(fmt::format("all of it, because it could not be rebuilt: {}", done.error().detail()));
    }
    co_return std::move(rebuilt_);
  }

 private:
  rt::Task<void> try_all(Traces traces) {
    LEAT_CO_DO(co_await read_records(traces.records));
    if (head_ && head_->ref.version != 0) {
      // Nobody's pointer is moved back.
      const auto last = by_key_.find(head_->ref.record);
      if (last == by_key_.end()) {
        co_return fail(Errc::corrupt,
                       fmt::format("the record {} of its last version is lost", head_->ref.record));
      }
      co_return co_await by_log(*last->second);
    }
    LEAT_CO_DO(co_await bury(traces));
    if (records_.empty() && traces.shards.empty()) {
      rebuilt_.by = Rebuilt::By::removed;
      rebuilt_.unknown.clear();
      say(
          fmt::format("nothing: it was removed, and stays so. Who wants it back deletes {} and "
                      "rebuilds again",
                      fmt::join(traces.tombstones, ", ")));
      co_return Status{};
    }
    LEAT_CO_DO(co_await find_appends(traces));
    if (head_) {
      say("whether it was meant to have no version");
    } else {
      say("which versions had tags and pins");
    }
    LEAT_CO_TRY(const bool is_found, co_await by_record());
    if (is_found) co_return Status{};
    if (!records_.empty()) co_return co_await by_log(records_.front());
    co_return co_await by_shards(traces);
  }

  // Leaves out what was of a dataset that was removed.
  rt::Task<void> bury(Traces& traces) {
    std::set<std::string> dead;
    for (const std::string& key : traces.tombstones) {
      const auto tombstone = co_await datasets_.read_tombstone(bucket_, key);
      if (!tombstone) {
        say(fmt::format("what {} says was removed: {}", key, tombstone.error().detail()));
        continue;
      }
      // A version that follows shows that the dataset was not removed after all.
      const bool is_void =
          !tombstone->record.empty() && std::ranges::any_of(records_, [&](const Stored& one) {
            return one.record.parent.record == tombstone->record;
          });
      if (is_void) continue;
      const auto last = by_key_.find(tombstone->record);
      if (last != by_key_.end()) {
        for (const Stored* one : chain_of(*last->second))
          dead.insert(one->key);
      }
      std::erase_if(traces.shards, [&](const std::string& shard) {
        return traces.stored_ms.at(shard) <= tombstone->removed_ms;
      });
    }
    by_key_.clear();
    std::erase_if(records_, [&](const Stored& one) { return dead.contains(one.key); });
    find_first_ones();
    co_return Status{};
  }

  // Which life of the dataset what producers appended is of, if there is only one.
  rt::Task<void> find_appends(const Traces& traces) {
    auto& parts = datasets_.parts();
    const std::string key = datasets::appends_key(rebuilt_.dataset);
    LEAT_CO_TRY(const auto known, co_await parts.control.get(parts.store.shard(), key));
    if (head_ && known) {
      LEAT_CO_TRY(const auto appends, datasets::decode_appends(known->value));
      known_id_ = appends.id;
    }
    for (const auto& [id, producers] : traces.appends)
      stored_ids_.push_back(id);
    co_return Status{};
  }

  void say_which_lives() {
    std::string ids;
    for (const std::string& id : stored_ids_)
      ids += fmt::format(" {}", id);
    say(
        fmt::format("which of these lives of the dataset the appends that wait are of; none is "
                    "taken, and all of them stay:{}",
                    ids));
  }

  void say(std::string sentence) { rebuilt_.unknown.push_back(std::move(sentence)); }

  // All that can be read, the newest first.
  rt::Task<void> read_records(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
      auto record = co_await datasets_.read_record(bucket_, key);
      if (record) {
        records_.push_back({.key = key, .record = *std::move(record)});
      } else {
        say(fmt::format("what {} says: {}", key, record.error().detail()));
      }
    }
    // By time: a dataset that was removed and made again counts anew.
    std::ranges::sort(records_, std::greater(), [](const Stored& one) {
      return std::pair(one.record.committed_ms, one.record.version);
    });
    find_first_ones();
    co_return Status{};
  }

  void find_first_ones() {
    std::vector<Stored*> ascending;
    for (Stored& one : records_) {
      by_key_[one.key] = &one;
      ascending.push_back(&one);
    }
    std::ranges::sort(ascending, {}, [](const Stored* one) { return one->record.version; });
    for (Stored* one : ascending) {
      const Stored* parent = parent_of(*one);
      one->first = parent != nullptr ? parent->first : one;
    }
  }

  // Null, if it is lost. Versions grow less on the way, so that it has an end, also where others
  // have replaced records.
  const Stored* parent_of(const Stored& one) const {
    const auto parent = by_key_.find(one.record.parent.record);
    if (parent == by_key_.end()) return nullptr;
    return parent->second->record.version == one.record.parent.version ? parent->second : nullptr;
  }

  // The newest version whose snapshot is there.
  rt::Task<bool> by_record() {
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const Stored& one = records_[i];
      Opened opened{.dataset = rebuilt_.dataset, .bucket = bucket_, .record = one.record};
      opened.ref = one.ref();
      const auto reader = co_await datasets_.reader(opened);
      if (!reader) continue;
      if (records_[0].first == one.first && records_[0].record.version > one.record.version) {
        say(fmt::format("versions {} to {}: their snapshots are lost, and {} is the last one again",
                        one.record.version + 1, records_[0].record.version, one.record.version));
      }
      say_unanswered(one);
      rebuilt_.by = Rebuilt::By::record;
      rebuilt_.version = one.record.version;
      rebuilt_.samples = one.record.samples;
      LEAT_CO_DO(co_await restore(one));
      co_return true;
    }
    co_return false;
  }

  // Nobody is its child: the answer to its commit may have been another.
  void say_unanswered(const Stored& last) {
    std::set<const Stored*> histories;
    for (const Stored& one : records_)
      histories.insert(one.first);
    if (histories.size() > 1) {
      say(
          fmt::format("which of {} histories is the dataset's: that of the youngest commit was "
                      "taken, which ends with version {}",
                      histories.size(), last.record.version));
    }
    const auto same = std::ranges::count_if(records_, [&](const Stored& one) {
      return one.first == last.first && one.record.version == last.record.version;
    });
    if (same > 1) {
      say(fmt::format("which of {} commits of version {} was answered; the youngest was taken",
                      same, last.record.version));
    } else {
      say(fmt::format("whether the commit of version {} was answered", last.record.version));
    }
  }

  // The records from `last` back, as far as they are there.
  std::vector<const Stored*> chain_of(const Stored& last) const {
    std::vector<const Stored*> chain;
    for (const Stored* one = &last; one != nullptr; one = parent_of(*one))
      chain.push_back(one);
    return chain;
  }

  // What has no snapshot any more is as good as vacuumed: nobody shall tag it or go back to it.
  rt::Task<datasets::Vacuumed> what_was_vacuumed(const Stored& last) {
    datasets::Vacuumed vacuumed{.below = last.record.version};
    for (const Stored* one : chain_of(last)) {
      record::ObjectKey object{.bucket = bucket_, .key = one->record.snapshot.key};
      const auto found = co_await datasets_.parts().store.find(std::move(object));
      if (!found && found.error().code() != Errc::not_found) co_return fail(found.error());
      if (found && one != &last) vacuumed.kept.insert(one->record.version);
    }
    co_return vacuumed;
  }

  // The pointer, transactions that were committed, and how far producers were.
  rt::Task<void> restore(const Stored& last) {
    using Kind = control::Operation::Kind;
    std::vector<control::Operation> beside;
    datasets::AppendState appends;
    LEAT_CO_TRY(const datasets::Vacuumed vacuumed, co_await what_was_vacuumed(last));
    if (vacuumed.kept.size() + 1 < chain_of(last).size()) {
      beside.push_back(
          {.kind = Kind::put, .key = vacuumed_key(rebuilt_.dataset), .value = encode(vacuumed)});
    }
    for (const Stored* one : chain_of(last)) {
      if (!one->record.transaction.empty()) {
        beside.push_back({.kind = Kind::put,
                          .key = transaction_key(rebuilt_.dataset, one->record.transaction),
                          .value = encode(one->ref())});
      }
      for (const std::string& key : one->record.added) {
        const auto append = datasets::parse_append_key(rebuilt_.dataset, key);
        if (!append) continue;
        if (appends.id.empty()) appends.id = append->id;
        if (appends.id != append->id) continue;
        auto& committed = appends.committed[append->producer];
        committed = std::max(committed, append->sequence);
      }
    }
    // Without a commit that took appends, their keys say what they are of.
    if (appends.id.empty() && stored_ids_.size() == 1) appends.id = stored_ids_.front();
    if (appends.id.empty() && stored_ids_.size() > 1 && known_id_.empty()) say_which_lives();
    if (!appends.id.empty() && known_id_.empty()) {
      beside.push_back(
          {.kind = Kind::put, .key = appends_key(rebuilt_.dataset), .value = encode(appends)});
    }
    const control::Revision before = head_ ? head_->modified : control::Revision();
    if (is_dry_) co_return Status{};
    co_return co_await datasets_.restore_pointer(rebuilt_.dataset, last.ref(), std::move(beside),
                                                 before);
  }

  // No snapshot is left: the shards that the records name.
  rt::Task<void> by_log(const Stored& last) {
    auto chain = chain_of(last);
    say_unanswered(last);
    if (chain.back()->record.parent.version != 0) {
      say(
          fmt::format("versions before {}: their records are lost, and what they added and nobody "
                      "names since is not in the dataset",
                      chain.back()->record.version));
    }
    std::map<std::uint64_t, std::vector<std::string>> content;  // by version
    std::vector<std::string> shards;
    std::uint64_t deleted = 0;
    for (const Stored* one : chain | std::views::reverse) {
      const CommitRecord& record = one->record;
      if (record.is_anew) shards.clear();
      if (record.restored != 0) shards = content[record.restored];
      std::erase_if(shards, [&](const std::string& key) {
        return std::ranges::find(record.removed, key) != record.removed.end();
      });
      shards.insert(shards.end(), record.added.begin(), record.added.end());
      deleted += record.deleted_samples;
      content[record.version] = shards;
    }
    if (deleted > 0) say(fmt::format("which {} samples were deleted: they are back", deleted));
    rebuilt_.by = Rebuilt::By::log;
    rebuilt_.version = last.record.version + 1;
    // Who was killed after this has left the pointer.
    const bool is_restored = head_ && head_->ref.version != 0;
    if (!is_restored) LEAT_CO_DO(co_await restore(last));
    co_return co_await commit(std::move(shards), /*is_anew=*/true);
  }

  // No record is left: the shards that say whose they are.
  rt::Task<void> by_shards(const Traces& traces) {
    rebuilt_.by = Rebuilt::By::shards;
    rebuilt_.version = 1;
    say("the log, and which shards and samples had been removed: all that name the dataset are in");
    datasets::AppendState appends;
    if (stored_ids_.size() == 1 && known_id_.empty()) {
      appends = resume(traces.appends.begin()->second);
    }
    if (stored_ids_.size() > 1) {
      say(fmt::format(
          "which of {} lives of the dataset its appends are of: all that are of no life "
          "that goes on are in",
          stored_ids_.size()));
    }
    std::vector<std::string> shards;
    for (const std::string& key : traces.shards) {
      const auto append = datasets::parse_append_key(rebuilt_.dataset, key);
      const bool is_after_gap = append && append->id == appends.id &&
                                append->sequence > appends.committed_of(append->producer);
      const bool waits = append && (append->id == known_id_ || is_after_gap);
      if (!waits) shards.push_back(key);
    }
    if (!is_dry_) {
      if (!head_) LEAT_CO_DO(co_await datasets_.create(rebuilt_.dataset));
      if (!appends.id.empty()) LEAT_CO_DO(co_await put_beside(appends));
    }
    co_return co_await commit(std::move(shards), /*is_anew=*/false);
  }

  // What a producer sent is in up to the first gap: what comes after it waits for what is missing.
  datasets::AppendState resume(const Traces::Producers& producers) {
    datasets::AppendState appends{.id = stored_ids_.front()};
    for (const auto& [producer, sequences] : producers) {
      std::uint64_t last = *sequences.begin();
      while (sequences.contains(last + 1))
        ++last;
      appends.committed[producer] = last;
      if (last != *sequences.rbegin()) {
        say(fmt::format("what {} appended after {}: the next is missing, and the others wait",
                        producer, last));
      }
    }
    return appends;
  }

  rt::Task<void> put_beside(const datasets::AppendState& appends) {
    LEAT_CO_TRY(const Datasets::Head head, co_await datasets_.head(rebuilt_.dataset));
    std::vector<control::Operation> operations{{.kind = control::Operation::Kind::put,
                                                .key = appends_key(rebuilt_.dataset),
                                                .value = encode(appends)}};
    auto putting = datasets_.change_beside(rebuilt_.dataset, head, std::move(operations));
    LEAT_CO_TRY(const bool is_put, co_await std::move(putting));
    if (!is_put) co_return fail(Errc::conflict, "it was changed meanwhile; try again");
    co_return Status{};
  }

  // A version of those shards that are there.
  rt::Task<void> commit(std::vector<std::string> shards, bool is_anew) {
    std::vector<std::string> there;
    for (std::string& key : shards) {
      record::ObjectKey object{.bucket = bucket_, .key = key};
      const auto found = co_await datasets_.parts().store.find(std::move(object));
      Status sound;
      if (!found) sound = fail(found.error());
      if (found) {
        const auto content = co_await datasets_.content_of(*found);
        if (!content) sound = fail(content.error());
        if (content) rebuilt_.samples += content->index->view().sample_count();
      }
      if (sound) {
        there.push_back(std::move(key));
      } else {
        say(fmt::format("what the shard {} held: {}", key, sound.error().detail()));
      }
    }
    if (is_dry_ || there.empty()) co_return Status{};
    datasets::Commit rebuilding{.dataset = rebuilt_.dataset,
                                .add = std::move(there),
                                .is_anew = is_anew,
                                .message = "rebuilt"};
    std::vector<datasets::Commit> commits;
    commits.push_back(std::move(rebuilding));
    LEAT_CO_TRY(const auto done, co_await datasets_.commit(std::move(commits)));
    rebuilt_.version = done.front().ref.version;
    rebuilt_.samples = done.front().record.samples;
    co_return Status{};
  }

  Datasets& datasets_;
  const record::BucketId bucket_;
  const bool is_dry_;
  const std::optional<Datasets::Head> head_;
  std::string known_id_;                 // of appends, where the control store has it still
  std::vector<std::string> stored_ids_;  // that keys of objects name
  std::vector<Stored> records_;
  std::map<std::string_view, const Stored*> by_key_;
  Rebuilt rebuilt_;
};

// Notes the body of an append under its dataset.
void note_append(const std::string& key, std::map<std::string, Traces>& found) {
  constexpr std::string_view kAppends = "/append/";
  for (std::size_t at = key.rfind(kAppends); at != key.npos && at > 0;
       at = key.rfind(kAppends, at - 1)) {
    const DatasetName name{.name = key.substr(0, at)};
    const auto append = datasets::parse_append_key(name, key);
    if (!append) continue;
    found[name.name].appends[append->id][append->producer].insert(append->sequence);
    return;
  }
}

rt::Task<std::map<std::string, Traces>> look_for_traces(Datasets& datasets,
                                                        record::BucketId bucket) {
  std::map<std::string, Traces> found;  // by name of the dataset
  index::ListRequest request{.bucket = bucket, .max = kPage};
  for (bool is_more = true; is_more;) {
    LEAT_CO_TRY(const index::ListPage page, co_await datasets.parts().store.list(request));
    is_more = page.is_truncated;
    for (const index::ListItem& item : page.items) {
      request.after = item.name;
      if (!item.version) continue;
      note_append(item.name, found);
      const std::size_t folder = item.name.rfind(kFolder);
      if (folder != item.name.npos && item.name.ends_with(".json")) {
        found[item.name.substr(0, folder)].records.push_back(item.name);
      } else if (folder != item.name.npos && item.name.ends_with(datasets::kTombstoneSuffix)) {
        found[item.name.substr(0, folder)].tombstones.push_back(item.name);
      } else if (const auto name = datasets::dataset_of(*item.version); !name.empty()) {
        Traces& traces = found[std::string(name)];
        traces.shards.push_back(item.name);
        traces.stored_ms[item.name] = item.version->modified_ms;
      }
    }
  }
  co_return found;
}

struct Standing {
  bool is_lost = false;
  std::optional<Datasets::Head> head{};
};

// Only what is known to be gone is lost: who cannot read at the moment has lost nothing.
rt::Task<Standing> look_at(Datasets& datasets, const DatasetName& name, const Traces& traces) {
  auto head = co_await datasets.head(name);
  const bool has_some = !traces.records.empty() || !traces.shards.empty();
  if (!head && head.error().code() == Errc::not_found) co_return Standing{.is_lost = has_some};
  if (!head) co_return fail(head.error());
  Standing standing{.head = *head};
  if (head->ref.version == 0) {
    auto& parts = datasets.parts();
    LEAT_CO_TRY(const auto known,
                co_await parts.control.get(parts.store.shard(), datasets::appends_key(name)));
    datasets::AppendState appends;
    if (known) {
      LEAT_CO_TRY(appends, datasets::decode_appends(known->value));
    }
    standing.is_lost = traces.tells_more_than(name, appends.id);
    co_return standing;
  }
  datasets::Reference latest{.dataset = name};
  const auto opened = co_await datasets.open(std::move(latest));
  Status sound;
  if (!opened) sound = fail(opened.error());
  if (opened) {
    const auto reader = co_await datasets.reader(*opened);
    if (!reader) sound = fail(reader.error());
  }
  standing.is_lost =
      !sound && (sound.error().code() == Errc::not_found || sound.error().code() == Errc::corrupt);
  co_return standing;
}

}  // namespace

std::string_view word_of(Rebuilt::By by) {
  switch (by) {
    case Rebuilt::By::record: return "record";
    case Rebuilt::By::log: return "log";
    case Rebuilt::By::shards: return "shards";
    case Rebuilt::By::nothing: return "nothing";
    case Rebuilt::By::removed: return "removed";
  }
  return "";
}

rt::Task<std::vector<Rebuilt>> rebuild(Datasets& datasets, std::string bucket, bool is_dry) {
  const DatasetName of_bucket{.bucket = bucket};
  LEAT_CO_TRY(const record::BucketId id, datasets.find_bucket(of_bucket));
  LEAT_CO_TRY(const auto traces, co_await look_for_traces(datasets, id));
  std::vector<Rebuilt> all;
  for (const auto& [name, trace] : traces) {
    // Metadata are anybody's words.
    const auto reference = datasets::parse_reference(fmt::format("{}/{}", bucket, name));
    if (!reference || !std::holds_alternative<datasets::Latest>(reference->which)) continue;
    LEAT_CO_TRY(const Standing standing, co_await look_at(datasets, reference->dataset, trace));
    if (!standing.is_lost) continue;
    Rebuilding one(datasets, reference->dataset, id, is_dry, standing.head);
    LEAT_CO_TRY(Rebuilt rebuilt, co_await one.run(trace));
    // One that was made again and has no version yet lacks nothing.
    if (rebuilt.by == Rebuilt::By::removed && standing.head) continue;
    all.push_back(std::move(rebuilt));
  }
  co_return all;
}

}  // namespace leat::upkeep
