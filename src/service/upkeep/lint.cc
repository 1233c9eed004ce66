#include "upkeep/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "rt/shard.h"
#include "upkeep/odd_name.h"

namespace leat::upkeep {
namespace {

using datasets::Datasets;
using datasets::Opened;

constexpr std::uint64_t kMembersAtOnce = 10'000;

class Findings {
 public:
  explicit Findings(std::uint64_t max) : max_(max) {}

  void add(Problem problem) {
    const std::uint64_t known = report_.counts[problem.kind]++;
    if (known < max_) report_.problems.push_back(std::move(problem));
  }
  LintReport take() { return std::move(report_); }

 private:
  const std::uint64_t max_;
  LintReport report_;
};

// Keys that repeat, and samples that lack what more than half of all have.
Status look_at_samples(const snapshot::View& view, Findings& findings) {
  std::string last;
  bool is_first = true;
  LEAT_DO(view.for_each("", "", [&](std::string_view key, snapshot::Row) {
    if (!is_first && key == last) findings.add({.kind = "duplicate_key", .name = last});
    is_first = false;
    last = key;
    return true;
  }));
  std::vector<std::uint64_t> having(view.fields().size());
  for (snapshot::Row row = 0; row < view.sample_count(); ++row) {
    LEAT_TRY(const snapshot::Sample sample, view.sample(row));
    for (std::size_t i = 0; i < having.size(); ++i)
      having[i] += sample.fields[i] ? 1 : 0;
  }
  for (snapshot::Row row = 0; row < view.sample_count(); ++row) {
    LEAT_TRY(const snapshot::Sample sample, view.sample(row));
    std::vector<std::string_view> lacks;
    for (std::size_t i = 0; i < having.size(); ++i) {
      if (!sample.fields[i] && having[i] * 2 > view.sample_count())
        lacks.push_back(view.fields()[i]);
    }
    if (lacks.empty()) continue;
    LEAT_TRY(const snapshot::ShardEntry shard, view.shard(sample.shard));
    LEAT_TRY(std::string key, view.key(row));
    findings.add({.kind = "field_missing",
                  .shard = shard.key,
                  .name = std::move(key),
                  .detail = fmt::format("it has no {}", fmt::join(lacks, ", "))});
  }
  return {};
}

class ShardLint {
 public:
  ShardLint(Datasets& datasets, Findings& findings) : datasets_(datasets), findings_(findings) {}

  rt::Task<void> look_at(const Opened& opened, snapshot::ShardEntry entry) {
    const auto& parts = datasets_.parts();
    const auto note = [&](std::string kind, std::string_view detail) {
      findings_.add({.kind = std::move(kind), .shard = entry.key, .detail = std::string(detail)});
    };
    // Who may read the dataset learns nothing of other buckets, whoever wrote the snapshot.
    if (entry.bucket != opened.dataset.bucket) {
      note("shard_missing", "it is said to be in another bucket");
      co_return Status{};
    }
    record::ObjectKey object{.bucket = opened.bucket, .key = entry.key};
    const auto found = co_await parts.store.find(std::move(object));
    if (!found) {
      const bool is_gone = found.error().code() == Errc::not_found;
      note(is_gone ? "shard_missing" : "shard_damaged", found.error().detail());
      co_return Status{};
    }
    if (found->version.etag != entry.etag) {
      note("shard_replaced", "another object has its key since the commit");
      co_return Status{};
    }
    const auto content = co_await datasets_.content_of(*found);
    if (!content) {
      note("shard_damaged", content.error().detail());
      co_return Status{};
    }
    if (content->is_recipe) LEAT_CO_DO(co_await look_at_objects(entry.key, *found));
    co_return co_await look_at_members(entry.key, content->index->view());
  }

 private:
  // Of a recipe: all must be as they were.
  rt::Task<void> look_at_objects(const std::string& shard, const store::Found& found) {
    store::ShardStore& store = datasets_.parts().store;
    LEAT_CO_TRY(const auto recipe, co_await shards::load_recipe(store, found));
    for (const shard::Ingredient& one : recipe->recipe.members) {
      record::ObjectKey object{.bucket = recipe->bucket, .key = one.key};
      const auto now = co_await store.find(std::move(object));
      if (now && now->version.etag == one.etag) continue;
      const bool is_there = now || now.error().code() != Errc::not_found;
      findings_.add(
          {.kind = is_there ? "shard_replaced" : "shard_missing", .shard = shard, .name = one.key});
    }
    co_return Status{};
  }

  rt::Task<void> look_at_members(const std::string& shard, const shard::View& index) {
    for (std::uint64_t i = 0; i < index.member_count(); ++i) {
      const shard::MemberRef member = index.member(i);
      if (member.name == shard::kIndexName || member.kind == tar::Kind::directory) continue;
      const std::string name(member.name);
      if (member.kind != tar::Kind::file) {
        findings_.add({.kind = "member_is_no_file",
                       .shard = shard,
                       .name = name,
                       .detail = fmt::format("it is a {}", shards::word_of(member.kind))});
        continue;
      }
      if (auto why = why_odd(name)) {
        findings_.add(
            {.kind = "name_differs", .shard = shard, .name = name, .detail = *std::move(why)});
      }
      if (!member.sample) {
        findings_.add({.kind = "member_ignored", .shard = shard, .name = name});
      }
      if (i % kMembersAtOnce == 0) LEAT_CO_DO(co_await rt::yield());
    }
    for (std::uint64_t i = 0; i < index.sample_count(); ++i) {
      const shard::SampleRef sample = index.sample(i);
      if (!sample.has_duplicate_fields) continue;
      findings_.add({.kind = "field_twice", .shard = shard, .name = std::string(sample.key)});
    }
    co_return Status{};
  }

  Datasets& datasets_;
  Findings& findings_;
};

}  // namespace

rt::Task<LintReport> lint(Datasets& datasets, const Opened& opened, std::uint64_t max) {
  Findings findings(max);
  LEAT_CO_TRY(const auto loaded, co_await datasets.snapshot(opened));
  auto looking = datasets.parts().store.kit().pool.run<void>(
      [&loaded, &findings] { return look_at_samples(loaded->view(), findings); });
  LEAT_CO_DO(co_await std::move(looking));
  ShardLint shards(datasets, findings);
  for (std::uint32_t i = 0; i < loaded->view().shard_count(); ++i) {
    LEAT_CO_TRY(snapshot::ShardEntry entry, loaded->view().shard(i));
    LEAT_CO_DO(co_await shards.look_at(opened, std::move(entry)));
  }
  co_return findings.take();
}

}  // namespace leat::upkeep
