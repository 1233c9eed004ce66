#include "ingest/ingest.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::ingest {
namespace {

// A service answers a transaction that it knows with what was made then, so its name also says on
// top of what: the same samples may be added again after a restore.
std::string transaction_of(const IngestOptions& options, const std::string& content,
                           std::uint64_t base) {
  const bool is_append = options.purpose == Purpose::append;
  return fmt::format("{}-{}-{}", is_append ? "append" : "put", content, base);
}

// What the last version was made of, if it was put there as a whole.
bool is_up_to_date(const Standing& standing, const std::string& content) {
  return standing.transaction.starts_with(fmt::format("put-{}-", content));
}

// The work before a byte is read: a thread of its own for it.
struct Prepared {
  Plan plan{};
  std::string content{};  // identity of all shards
  std::uint64_t bytes = 0;
  Quality quality{};
};

Prepared prepare(Gathering& gathering, const PlanOptions& options) {
  const Catalog& catalog = gathering.catalog;
  note_repeated_keys(gathering);
  Prepared ready{.plan = make_plan(catalog, options)};
  std::vector<std::string> identities;
  for (std::size_t i = 0; i < ready.plan.shard_count(); ++i)
    identities.push_back(identity_of(catalog, ready.plan.shard(i)));
  ready.content = identity_of(identities);
  for (const GroupId id : ready.plan.order)
    ready.bytes += tar_bytes(catalog, catalog.group(id));
  ready.quality = quality_of(catalog, ready.plan, kWindowBlocks);
  return ready;
}

void add_preface(Gathering& gathering) {
  if (gathering.classes.empty()) return;
  const std::string text = classes_text(gathering.classes);
  Catalog& catalog = gathering.catalog;
  const std::uint64_t at = catalog.add_text(text);
  catalog.set_preface({.name = kClassesName, .offset = at, .size_bytes = text.size()});
}

void sum_up(const std::vector<PackedShard>& shards, Gathering& gathering, IngestReport& report) {
  for (const PackedShard& shard : shards) {
    for (const BadGroup& bad : shard.bad) {
      ++report.failed_samples;
      gathering.complain(bad.path, bad.error);
    }
    if (shard.key.empty()) continue;
    ++report.shards;
    report.samples += shard.samples;
    report.shard_bytes += shard.size_bytes;
    if (shard.was_there) ++report.shards_there;
  }
}

}  // namespace

rt::Task<IngestReport> ingest(std::vector<transfer::Tools*> members, Gathering& gathering,
                              const IngestOptions& options) {
  transfer::Tools& tools = *members.front();
  IngestReport report;
  if (gathering.catalog.group_count() == 0) {
    co_return fail(Errc::not_found, "there is nothing to pack");
  }
  add_preface(gathering);
  auto plan = [&gathering, &options]() -> Result<Prepared> {
    return prepare(gathering, options.plan);
  };
  auto planning = tools.pool.run<Prepared>(std::move(plan));
  LEAT_CO_TRY(const Prepared ready, co_await std::move(planning));
  report.quality = ready.quality;
  tools.counters.files_total = gathering.findings.files;
  tools.counters.bytes_total = ready.bytes;
  tools.counters.is_planned = true;

  LEAT_CO_TRY(const Standing standing, co_await look_at_dataset(tools.client, options.dataset()));
  report.was_up_to_date =
      options.purpose == Purpose::replace && is_up_to_date(standing, ready.content);
  if (options.is_dry || (report.was_up_to_date && !options.verifies)) {
    report.samples = gathering.catalog.samples();
    report.shards = ready.plan.shard_count();
    report.shard_bytes = ready.bytes;
    if (report.was_up_to_date) report.committed = Committed{.version = standing.version};
    co_return report;
  }
  PackOptions pack{.bucket = options.bucket,
                   .prefix = options.name,
                   .shard_name = options.shard_name,
                   .sends_everything = options.sends_everything,
                   .verifies = options.verifies};
  Packing packing(members, gathering.catalog, ready.plan, std::move(pack));
  LEAT_CO_TRY(const auto shards, co_await packing.run());
  sum_up(shards, gathering, report);
  if (report.was_up_to_date) {
    report.committed = Committed{.version = standing.version};
    co_return report;
  }
  NewVersion next{.dataset = options.dataset(), .message = options.message};
  std::vector<std::string> identities;
  for (const PackedShard& shard : shards) {
    if (shard.key.empty()) continue;
    next.shards.push_back(shard.key);
    identities.push_back(shard.identity);
  }
  if (next.shards.empty()) co_return fail(Errc::conflict, "no file could be packed");
  next.transaction = transaction_of(options, identity_of(identities), standing.version);
  if (options.purpose == Purpose::replace) next.replaces = standing.version;
  next.samples = report.samples;
  LEAT_CO_TRY(report.committed, co_await commit_version(tools.client, standing, std::move(next)));
  report.was_up_to_date = !report.committed->is_new;
  co_return report;
}

}  // namespace leat::ingest
