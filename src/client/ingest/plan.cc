#include "ingest/plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "base/encoding.h"
#include "hash/digest.h"
#include "order/mixing.h"
#include "order/permutation.h"
#include "tar/writer.h"

namespace leat::ingest {
namespace {

constexpr std::size_t kIdentityBytes = 10;
constexpr std::uint64_t kBlockBytes = 4 * kMiB;
constexpr std::uint64_t kVisitSeed = 1;

// WebDataset would take two neighbours of one key for one sample; files that are in no sample do
// not part them.
void part_repeated_keys(const Catalog& catalog, std::vector<GroupId>& order) {
  std::vector<std::size_t> at;  // where samples stand
  for (std::size_t i = 0; i < order.size(); ++i)
    if (catalog.group(order[i]).is_sample) at.push_back(i);
  const auto key = [&](std::size_t n) { return catalog.key(catalog.group(order[at[n]])); };
  const auto differs = [&](std::size_t n, std::string_view other) {
    return n >= at.size() || key(n) != other;
  };
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (key(i) != key(i - 1)) continue;
    std::size_t other = i + 1;
    while (other < at.size() && key(other) == key(i))
      ++other;
    if (other == at.size()) {
      // Nothing else comes behind: one before it whose neighbours it does not resemble.
      other = 0;
      while (other < i && (key(other) == key(i) || !differs(other + 1, key(i)) ||
                           (other > 0 && !differs(other - 1, key(i)))))
        ++other;
      if (other == i) return;
    }
    std::swap(order[at[i]], order[at[other]]);
  }
}

std::string hex_of(hash::Sha256& digest) {
  const auto value = digest.finish();
  return to_hex(Bytes(value).first(kIdentityBytes));
}

void update(hash::Sha256& digest, const Catalog& catalog, const Member& member) {
  const std::array<std::uint64_t, 5> numbers = {member.name_bytes, member.size_bytes, member.offset,
                                                static_cast<std::uint64_t>(member.mtime_s),
                                                static_cast<std::uint64_t>(member.changed_ns)};
  digest.update(as_bytes(catalog.name(member)));
  digest.update(std::as_bytes(std::span(numbers)));
  if (member.origin == Catalog::kText) digest.update(as_bytes(catalog.text(member)));
}

}  // namespace

std::uint64_t tar_bytes(const Catalog& catalog, const Group& group) {
  std::uint64_t bytes = 0;
  for (std::uint64_t i = group.first; i < group.first + group.count; ++i) {
    const Member& member = catalog.member(i);
    bytes += tar::header_bytes({.name = catalog.name(member),
                                .size_bytes = member.size_bytes,
                                .mtime_s = member.mtime_s}) +
             member.size_bytes + tar::padding(member.size_bytes);
  }
  return bytes;
}

Plan make_plan(const Catalog& catalog, const PlanOptions& options) {
  Plan plan{.is_mixed = options.is_mixed};
  const std::uint64_t count = catalog.group_count();
  plan.order.resize(count);
  std::iota(plan.order.begin(), plan.order.end(), GroupId(0));
  if (options.is_mixed && count > 1) {
    const order::Permutation permutation = order::source_order(count, options.seed);
    for (std::uint64_t i = 0; i < count; ++i)
      plan.order[i] = static_cast<GroupId>(permutation(i));
  }
  if (catalog.has_repeated_keys()) part_repeated_keys(catalog, plan.order);
  plan.cuts.push_back(0);
  if (count == 0) return plan;

  std::vector<std::uint64_t> sizes(count);
  for (std::uint64_t i = 0; i < count; ++i)
    sizes[i] = tar_bytes(catalog, catalog.group(plan.order[i]));
  const std::uint64_t total = std::reduce(sizes.begin(), sizes.end());
  const std::uint64_t shards =
      std::max<std::uint64_t>(1, (total + options.shard_bytes - 1) / options.shard_bytes);
  // Cut where the sum passes the next multiple of total / shards: no shard is a small rest.
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto limit = static_cast<std::uint64_t>(static_cast<unsigned __int128>(total) *
                                                  plan.cuts.size() / shards);
    if (sum + sizes[i] > limit && i > plan.cuts.back()) plan.cuts.push_back(i);
    sum += sizes[i];
  }
  plan.cuts.push_back(count);
  return plan;
}

std::string identity_of(const Catalog& catalog, std::span<const GroupId> groups) {
  hash::Sha256 digest;
  if (catalog.preface()) update(digest, catalog, *catalog.preface());
  for (const GroupId id : groups) {
    const Group& group = catalog.group(id);
    for (std::uint64_t i = group.first; i < group.first + group.count; ++i)
      update(digest, catalog, catalog.member(i));
  }
  return hex_of(digest);
}

std::string identity_of(std::span<const std::string> identities) {
  hash::Sha256 digest;
  for (const std::string& one : identities)
    digest.update(as_bytes(one));
  return hex_of(digest);
}

Quality quality_of(const Catalog& catalog, const Plan& plan, std::uint64_t window_blocks) {
  // Blocks as a reader has them, and the labels in each.
  std::vector<std::vector<std::uint32_t>> blocks;
  std::unordered_set<std::uint32_t> distinct;
  std::uint64_t filled = kBlockBytes;
  for (const GroupId id : plan.order) {
    const Group& group = catalog.group(id);
    if (!group.is_sample) continue;
    if (filled >= kBlockBytes) {
      blocks.emplace_back();
      filled = 0;
    }
    filled += tar_bytes(catalog, group);
    blocks.back().push_back(group.label);
    distinct.insert(group.label);
  }
  Quality quality{.labels = distinct.size()};
  if (distinct.size() < 2) return quality;
  // An epoch visits blocks in random order and mixes a window of them: a batch is drawn from it.
  std::vector<std::uint32_t> seen;
  const order::Permutation visits(blocks.size(), kVisitSeed);
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    const auto& labels = blocks[visits(i)];
    seen.insert(seen.end(), labels.begin(), labels.end());
  }
  const std::uint64_t a_block = std::max<std::uint64_t>(1, seen.size() / blocks.size());
  const std::uint64_t window = std::max<std::uint64_t>(2, a_block * window_blocks);
  quality.measured = order::measured_inflation(seen, window);
  if (blocks.size() > window_blocks) {
    quality.expected = order::expected_inflation(distinct.size(), window_blocks,
                                                 plan.is_mixed ? blocks.size() : 1);
  }
  return quality;
}

}  // namespace leat::ingest
