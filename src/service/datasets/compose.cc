#include "datasets/compose.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"

namespace leat::datasets {
namespace {

// The keys of a snapshot by row. They stand in their own order there, so that reading them all in
// that order and putting them in place is much quicker than looking up each.
class KeysByRow {
 public:
  Status gather(const snapshot::View& view) {
    places_.resize(view.sample_count());
    return view.for_each("", "", [this](std::string_view key, snapshot::Row row) {
      places_[row] = {.at = heap_.size(), .size = key.size()};
      heap_ += key;
      return true;
    });
  }
  std::string_view key(snapshot::Row row) const {
    return std::string_view(heap_).substr(places_[row].at, places_[row].size);
  }

 private:
  struct Place {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  std::vector<Place> places_;
  std::string heap_;
};

class Composer {
 public:
  explicit Composer(const Changes& changes) : changes_(changes) {}

  Result<Composed> run(const snapshot::View* before) {
    if (before != nullptr) LEAT_DO(keep(*before));
    LEAT_DO(check_all_went());
    for (const NewShard& one : changes_.added)
      LEAT_DO(add(one));
    composed_.samples = builder_.sample_count();
    composed_.deleted_samples = deleted_;
    LEAT_TRY(composed_.snapshot, builder_.finish());
    LEAT_TRY(const auto view, snapshot::View::open(as_bytes(composed_.snapshot)));
    composed_.fingerprint = to_hex(Bytes(view.fingerprint()));
    composed_.fields = view.fields();
    return std::move(composed_);
  }

 private:
  // What stays of the version before.
  Status keep(const snapshot::View& before) {
    LEAT_DO(keys_.gather(before));
    std::uint32_t number = 0;
    for (std::uint32_t shard = 0; shard < before.shard_count(); ++shard) {
      LEAT_TRY(const auto entry, before.shard(shard));
      const bool is_kept = !changes_.removed_shards.contains(entry.key);
      if (is_kept) LEAT_DO(begin(entry));
      if (!is_kept) went_.insert(entry.key);
      for (; number < before.block_count(); ++number) {
        LEAT_TRY(const snapshot::Block block, before.block(number));
        if (block.shard != shard) break;
        for (snapshot::Row row = block.first; is_kept && row < block.first + block.count; ++row)
          LEAT_DO(keep_sample(before, row));
      }
    }
    return {};
  }

  Status keep_sample(const snapshot::View& before, snapshot::Row row) {
    const std::string key(keys_.key(row));
    if (changes_.deleted_samples.contains(key)) {
      went_samples_.insert(key);
      ++deleted_;
      return {};
    }
    LEAT_TRY(const snapshot::Sample sample, before.sample(row));
    fields_.clear();
    for (std::size_t i = 0; i < sample.fields.size(); ++i) {
      if (!sample.fields[i]) continue;
      fields_.push_back({.name = before.fields()[i], .place = *sample.fields[i]});
    }
    return builder_.add_sample(key, sample.start, sample.end, fields_);
  }

  Status begin(const snapshot::ShardEntry& entry) {
    if (!there_.insert(entry.key).second) {
      return fail(Errc::conflict, fmt::format("the shard {} is there already", entry.key));
    }
    ++composed_.shards;
    composed_.bytes += entry.size_bytes;
    return builder_.begin_shard(entry);
  }

  Status check_all_went() const {
    for (const std::string& key : changes_.removed_shards) {
      if (!went_.contains(key)) {
        return fail(Errc::not_found, fmt::format("the dataset has no shard {}", key));
      }
    }
    for (const std::string& key : changes_.deleted_samples) {
      if (!went_samples_.contains(key)) {
        return fail(Errc::not_found, fmt::format("the dataset has no sample {:?}", key));
      }
    }
    return {};
  }

  Status add(const NewShard& one) {
    LEAT_DO(begin(one.entry));
    const shard::View& index = *one.index;
    for (std::uint64_t number = 0; number < index.sample_count(); ++number) {
      const shard::SampleRef sample = index.sample(number);
      fields_.clear();
      for (std::uint64_t i = 0; i < sample.member_count; ++i) {
        const shard::MemberRef member = index.member(sample.first_member + i);
        if (member.sample != number) continue;
        fields_.push_back(
            {.name = index.field(*member.field),
             .place = {.offset = member.data_offset, .size_bytes = member.size_bytes}});
      }
      const Status added = builder_.add_sample(sample.key, sample.start, sample.end, fields_);
      if (!added) {
        return fail(added.error().code(), fmt::format("shard {}, sample {:?}: {}", one.entry.key,
                                                      sample.key, added.error().detail()));
      }
    }
    return {};
  }

  const Changes& changes_;
  KeysByRow keys_;
  snapshot::Builder builder_;
  Composed composed_;
  std::set<std::string> there_;
  std::set<std::string> went_;
  std::set<std::string> went_samples_;
  std::uint64_t deleted_ = 0;
  std::vector<snapshot::FieldOf> fields_;
};

}  // namespace

Result<Composed> compose(const snapshot::View* before, const Changes& changes) {
  return Composer(changes).run(before);
}

}  // namespace leat::datasets
