#include "datasets/snapshot_reader.h"

#include <algorithm>

#include "base/encoding.h"
#include "rt/shard.h"
#include "snapshot/key_page.h"
#include "snapshot/lookup.h"

namespace leat::datasets {

using snapshot::Range;
using snapshot::Row;
using snapshot::SectionKind;

namespace {

// What is read at first: the catalog of most datasets is in it.
constexpr std::uint64_t kGuessBytes = 64 * kKiB;
// Rows decoded one after the other, before others have their turn.
constexpr Row kRowsAtOnce = 1024;

std::unexpected<Error> damaged_keys() {
  return fail(Errc::corrupt, "the keys of a snapshot are damaged");
}

void append(shards::Ranges& ranges, const snapshot::Sample& sample) {
  const volume::ByteRange next{.offset = sample.start, .length = sample.end - sample.start};
  if (!ranges.empty() && ranges.back().offset + ranges.back().length == next.offset) {
    ranges.back().length += next.length;
  } else {
    ranges.push_back(next);
  }
}

}  // namespace

rt::Task<ReaderPtr> SnapshotReader::open(Parts parts, store::Found found, std::uint64_t number) {
  ReaderPtr reader(new SnapshotReader(parts, std::move(found), number));
  const std::uint64_t size = reader->found_.version.size_bytes;
  std::uint64_t wanted = std::min(size, kGuessBytes);
  LEAT_CO_TRY(reader->resident_, co_await reader->read(size - wanted, wanted));
  const Bytes last = as_bytes(reader->resident_);
  if (last.size() < snapshot::kTailBytes) co_return fail(Errc::corrupt, "no snapshot");
  LEAT_CO_TRY(wanted, snapshot::resident_bytes(last, size));
  if (wanted > size) co_return fail(Errc::corrupt, "the end of a snapshot is damaged");
  if (wanted > parts.catalog_max_bytes) co_return fail(Errc::too_large, "a snapshot is too large");
  if (wanted > reader->resident_.size()) {
    LEAT_CO_TRY(reader->resident_, co_await reader->read(size - wanted, wanted));
  }
  LEAT_CO_TRY(reader->catalog_, snapshot::Catalog::open(as_bytes(reader->resident_), size));
  co_return reader;
}

std::string SnapshotReader::fingerprint() const {
  return to_hex(Bytes(catalog_->footer().fingerprint));
}

rt::Task<std::string> SnapshotReader::read(std::uint64_t offset, std::uint64_t size_bytes) {
  const volume::ByteRange range{.offset = offset, .length = size_bytes};
  co_return co_await parts_.store.read_text(found_, range);
}

rt::Task<PagePtr> SnapshotReader::page(SectionKind kind, std::uint64_t number) {
  const PageName name{
      .snapshot = number_, .section = static_cast<std::uint32_t>(kind), .page = number};
  if (PagePtr known = parts_.cache.find(name)) co_return known;
  const snapshot::Section section = catalog_->pages().section(kind);
  if (number >= section.page_count()) co_return fail(Errc::corrupt, "a snapshot is damaged");
  const Range at = section.page(number);
  LEAT_CO_TRY(std::string bytes, co_await read(at.offset, at.size_bytes));
  LEAT_CO_DO(catalog_->pages().verify(section, number, as_bytes(bytes)));
  auto kept = std::make_shared<const std::string>(std::move(bytes));
  parts_.cache.keep(name, kept);
  co_return kept;
}

rt::Task<std::optional<snapshot::Sample>> SnapshotReader::find(std::string wanted) {
  LEAT_CO_TRY(const auto number, catalog_->page_of(wanted));
  if (!number) co_return std::nullopt;
  LEAT_CO_TRY(const PagePtr bytes, co_await page(SectionKind::keys, *number));
  LEAT_CO_TRY(snapshot::KeyPage keys, snapshot::KeyPage::open(as_bytes(*bytes)));
  LEAT_CO_TRY(const bool is_there, keys.seek(wanted));
  if (!is_there || keys.key() != wanted) co_return std::nullopt;
  if (keys.row() >= sample_count()) co_return damaged_keys();
  LEAT_CO_TRY(snapshot::Sample found, co_await sample(keys.row()));
  co_return found;
}

rt::Task<snapshot::Sample> SnapshotReader::sample(Row row) {
  if (row >= sample_count()) co_return fail(Errc::bad_request, "there is no such row");
  const Range at = catalog_->row_range(row);
  LEAT_CO_TRY(const PagePtr rows,
              co_await page(SectionKind::samples, at.offset / snapshot::kPageBytes));
  const std::uint64_t begin = at.offset % snapshot::kPageBytes;
  if (begin + at.size_bytes > rows->size()) co_return fail(Errc::corrupt, "a snapshot is damaged");
  snapshot::Sample found;
  LEAT_CO_TRY(const auto wide,
              catalog_->decode_row(as_bytes(*rows).subspan(begin, at.size_bytes), row, found));
  if (!wide) co_return found;
  LEAT_CO_TRY(const Range place, catalog_->wide_range(*wide));
  LEAT_CO_TRY(const PagePtr records,
              co_await page(SectionKind::wide, place.offset / snapshot::kPageBytes));
  const Bytes record = as_bytes(*records).subspan(place.offset % snapshot::kPageBytes);
  LEAT_CO_DO(catalog_->decode_wide_row(record, row, found));
  co_return found;
}

rt::Task<std::string> SnapshotReader::key(Row row) {
  if (row >= sample_count()) co_return fail(Errc::bad_request, "there is no such row");
  std::uint32_t rank = row;
  if (catalog_->pages().section(SectionKind::ranks).size_bytes > 0) {
    const std::uint64_t at = std::uint64_t{row} * 4;
    LEAT_CO_TRY(const PagePtr ranks, co_await page(SectionKind::ranks, at / snapshot::kPageBytes));
    rank = snapshot::load_u32(as_bytes(*ranks).subspan(at % snapshot::kPageBytes));
  }
  if (rank >= sample_count()) co_return damaged_keys();
  LEAT_CO_TRY(const std::uint32_t number, catalog_->page_of_rank(rank));
  LEAT_CO_TRY(const std::uint32_t first, catalog_->first_rank_of_page(number));
  LEAT_CO_TRY(const PagePtr bytes, co_await page(SectionKind::keys, number));
  LEAT_CO_TRY(snapshot::KeyPage keys, snapshot::KeyPage::open(as_bytes(*bytes)));
  LEAT_CO_TRY(const bool is_there, keys.seek_slot(rank - first));
  if (!is_there || keys.row() != row) co_return damaged_keys();
  co_return keys.key();
}

rt::Task<KeyListing> SnapshotReader::list(std::string prefix, std::string after, std::size_t max) {
  KeyListing listing;
  const std::string from = std::max(prefix, after);
  LEAT_CO_TRY(const auto first, catalog_->page_of(from));
  for (std::uint32_t number = first.value_or(0); number < catalog_->footer().key_pages; ++number) {
    LEAT_CO_TRY(const PagePtr bytes, co_await page(SectionKind::keys, number));
    LEAT_CO_TRY(snapshot::KeyPage keys, snapshot::KeyPage::open(as_bytes(*bytes)));
    for (;;) {
      LEAT_CO_TRY(const bool is_there, keys.next());
      if (!is_there) break;
      const std::string& key = keys.key();
      if (key < from || (!after.empty() && key <= after)) continue;
      if (!key.starts_with(prefix)) co_return listing;
      // All samples of one key are on one page: the next one begins behind the key.
      if (listing.page.size() >= max && (max == 0 || listing.page.back().key != key)) {
        listing.is_truncated = true;
        co_return listing;
      }
      listing.page.push_back({.key = key, .row = keys.row()});
    }
    LEAT_CO_DO(co_await rt::yield());
  }
  co_return listing;
}

rt::Task<shards::Ranges> SnapshotReader::samples_of(std::uint32_t shard) {
  if (shard >= shard_count()) co_return fail(Errc::not_found, "there is no such shard");
  LEAT_CO_TRY(const Row first, catalog_->first_row_of_shard(shard));
  LEAT_CO_TRY(const Row end, catalog_->first_row_of_shard(shard + 1));
  shards::Ranges ranges;
  std::uint64_t last_end = 0;
  for (Row row = first; row < end; ++row) {
    LEAT_CO_TRY(const snapshot::Sample one, co_await sample(row));
    // So that all of them together are no longer than the shard.
    if (one.start < last_end) co_return fail(Errc::corrupt, "samples of a snapshot overlap");
    last_end = one.end;
    append(ranges, one);
    if (row % kRowsAtOnce == 0) LEAT_CO_DO(co_await rt::yield());
  }
  co_return ranges;
}

}  // namespace leat::datasets
