#include "volume/lookup_cache.h"

#include <algorithm>
#include <cstring>

namespace leat::volume {
namespace {

// What the smallest cache that is worth having takes.
constexpr std::uint64_t kLeastBytes = 16 * LookupCache::kEntryMax;
// A set of slots for so many bytes of entries: most entries find one, for they take 64 to 128.
constexpr std::uint64_t kBytesPerSet = 448;

}  // namespace

LookupCache::LookupCache(std::uint64_t max_bytes, const LookupMetrics* metrics)
    : metrics_(metrics) {
  if (max_bytes < kLeastBytes) return;
  set_count_ = max_bytes / (kBytesPerSet + sizeof(Set));
  ring_bytes_ = set_count_ * kBytesPerSet;
  ring_ = std::make_unique_for_overwrite<std::byte[]>(ring_bytes_);
  sets_ = std::make_unique<Set[]>(set_count_);
  if (metrics_ != nullptr) metrics_->bytes.add(static_cast<double>(size_bytes()));
}

LookupCache::~LookupCache() {
  if (metrics_ != nullptr) metrics_->bytes.add(-static_cast<double>(size_bytes()));
}

std::uint64_t LookupCache::size_bytes() const {
  return std::min(end_ * kUnit, ring_bytes_) + set_count_ * sizeof(Set);
}

std::uint64_t LookupCache::hash_in(const Key& key) {
  constexpr std::uint64_t kOdd = 0xD6E8FEB86659FD93;
  return (key.hash ^ key.owner) * kOdd >> 8U;
}

LookupCache::Slot LookupCache::slot_of(const Key& key, std::uint64_t place) {
  return (key.hash >> kPlaceBits << kPlaceBits) | place;
}

bool LookupCache::is_live(Slot slot) const {
  const std::uint64_t place = place_of(slot);
  return place != 0 && (end_ - place) * kUnit <= ring_bytes_;
}

bool LookupCache::is_of(Slot slot, const Key& key) const {
  if (slot_of(key, place_of(slot)) != slot || !is_live(slot)) return false;
  Header header;
  const std::byte* entry = at(place_of(slot));
  std::memcpy(&header, entry, sizeof(header));
  return header.owner == key.owner && header.bucket == key.object.bucket.value() &&
         header.key_bytes == key.object.key.size() &&
         std::memcmp(entry + sizeof(header), key.object.key.data(), header.key_bytes) == 0;
}

std::string_view LookupCache::version_at(std::uint64_t place) const {
  Header header;
  std::memcpy(&header, at(place), sizeof(header));
  const std::byte* version = at(place) + sizeof(header) + header.key_bytes;
  return {reinterpret_cast<const char*>(version), header.version_bytes};
}

std::optional<std::string_view> LookupCache::find(const Key& key, index::Revisions::Stamp stamp) {
  if (ring_bytes_ == 0) return std::nullopt;
  const auto& set = set_of(key).slots;
  const auto slot = std::ranges::find_if(set, [&](Slot one) { return is_of(one, key); });
  index::Revisions::Stamp kept = 0;
  if (slot != set.end()) std::memcpy(&kept, at(place_of(*slot)), sizeof(kept));
  const bool is_hit = slot != set.end() && kept == stamp;
  if (metrics_ != nullptr) (is_hit ? metrics_->hits : metrics_->misses).add();
  if (!is_hit) return std::nullopt;
  const std::string_view version = version_at(place_of(*slot));
  // One of the older half stays, unless its place is about to be written over anyway.
  const std::uint64_t age = (end_ - place_of(*slot)) * kUnit;
  if (age < ring_bytes_ / 2 || age + 2 * kEntryMax > ring_bytes_) return version;
  keep(key, stamp, version);
  return version;
}

void LookupCache::keep(const Key& key, index::Revisions::Stamp stamp, std::string_view version) {
  const std::uint64_t used = sizeof(Header) + key.object.key.size() + version.size();
  if (ring_bytes_ == 0 || used > kEntryMax) return;
  const std::uint64_t units = (used + kUnit - 1) / kUnit;
  // An entry stands in one piece: what is left at the end of the ring stays empty.
  const std::uint64_t left = ring_bytes_ - end_ * kUnit % ring_bytes_;
  const std::uint64_t place = left < units * kUnit ? end_ + left / kUnit : end_;
  if (place + units >= std::uint64_t{1} << kPlaceBits) return clear();
  const Header header{.stamp = stamp,
                      .owner = key.owner,
                      .bucket = key.object.bucket.value(),
                      .key_bytes = static_cast<std::uint16_t>(key.object.key.size()),
                      .version_bytes = static_cast<std::uint16_t>(version.size()),
                      .padding = 0};
  auto& set = set_of(key).slots;
  auto slot = std::ranges::find_if(set, [&](Slot one) { return is_of(one, key); });
  // Those that were written over are the oldest.
  if (slot == set.end()) slot = std::ranges::min_element(set, {}, place_of);
  std::byte* entry = at(place);
  std::memcpy(entry, &header, sizeof(header));
  std::memcpy(entry + sizeof(header), key.object.key.data(), key.object.key.size());
  std::memcpy(entry + sizeof(header) + key.object.key.size(), version.data(), version.size());
  *slot = slot_of(key, place);
  set_end(place + units);
}

void LookupCache::set_end(std::uint64_t place) {
  const double before = static_cast<double>(size_bytes());
  end_ = place;
  if (metrics_ != nullptr) metrics_->bytes.add(static_cast<double>(size_bytes()) - before);
}

void LookupCache::clear() {
  std::fill_n(sets_.get(), set_count_, Set{});
  set_end(1);
}

}  // namespace leat::volume
