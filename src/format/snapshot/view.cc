#include "snapshot/view.h"

namespace leat::snapshot {
namespace {

Status check_below(std::uint64_t number, std::uint64_t count) {
  if (number < count) return {};
  return fail(Errc::bad_request, "a snapshot has no such row or block");
}

}  // namespace

View::View(Bytes whole, Catalog catalog)
    : whole_(whole),
      catalog_(std::move(catalog)),
      samples_(catalog_.pages().section(SectionKind::samples)),
      wide_(catalog_.pages().section(SectionKind::wide)),
      blocks_(catalog_.pages().section(SectionKind::blocks)),
      keys_(catalog_.pages().section(SectionKind::keys)),
      ranks_(catalog_.pages().section(SectionKind::ranks)) {}

Result<View> View::open(Bytes whole) {
  LEAT_DO(check_header(whole));
  LEAT_TRY(Catalog catalog, Catalog::open(whole, whole.size()));
  return View(whole, std::move(catalog));
}

Result<Row> View::first_row_of_block(std::uint32_t block) const {
  if (block == block_count()) return sample_count();
  LEAT_TRY(const Bytes bytes, catalog_.pages().read(blocks_, std::uint64_t{block} * 4, 4));
  return load_u32(bytes);
}

Result<Block> View::block(std::uint32_t block) const {
  LEAT_DO(check_below(block, block_count()));
  LEAT_TRY(const Row first, first_row_of_block(block));
  LEAT_TRY(const Row end, first_row_of_block(block + 1));
  if (first >= end || end > sample_count()) {
    return fail(Errc::corrupt, "the blocks of a snapshot are damaged");
  }
  LEAT_TRY(const Sample head, sample(first));
  LEAT_TRY(const Sample last, sample(end - 1));
  if (head.shard != last.shard || last.end < head.start) {
    return fail(Errc::corrupt, "the blocks of a snapshot are damaged");
  }
  return Block{.shard = head.shard,
               .first = first,
               .count = end - first,
               .offset = head.start,
               .size_bytes = last.end - head.start};
}

Result<std::uint32_t> View::block_of(Row row) const {
  LEAT_DO(check_below(row, sample_count()));
  std::uint32_t low = 0;
  std::uint32_t high = block_count();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    LEAT_TRY(const Row first, first_row_of_block(middle));
    if (first > row) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == 0) return fail(Errc::corrupt, "the blocks of a snapshot are damaged");
  return low - 1;
}

Result<std::vector<std::uint32_t>> View::block_counts() const {
  std::vector<std::uint32_t> counts;
  counts.reserve(block_count());
  for (std::uint32_t block = 0; block < block_count(); ++block) {
    LEAT_TRY(const Row first, first_row_of_block(block));
    LEAT_TRY(const Row end, first_row_of_block(block + 1));
    if (first >= end) return fail(Errc::corrupt, "the blocks of a snapshot are damaged");
    counts.push_back(end - first);
  }
  return counts;
}

Status View::read_sample(Row row, Sample& sample) const {
  LEAT_DO(check_below(row, sample_count()));
  const Range range = catalog_.row_range(row);
  LEAT_TRY(const Bytes bytes, catalog_.pages().read(samples_, range.offset, range.size_bytes));
  LEAT_TRY(const auto wide, catalog_.decode_row(bytes, row, sample));
  if (!wide) return {};
  LEAT_TRY(const Range at, catalog_.wide_range(*wide));
  LEAT_TRY(const Bytes record, catalog_.pages().read(wide_, at.offset, at.size_bytes));
  return catalog_.decode_wide_row(record, row, sample);
}

Result<Sample> View::sample(Row row) const {
  Sample sample;
  LEAT_DO(read_sample(row, sample));
  return sample;
}

Result<KeyPage> View::key_page(std::uint32_t page) const {
  LEAT_DO(check_below(page, catalog_.footer().key_pages));
  const std::uint64_t begin = page * kPageBytes;
  LEAT_TRY(const Bytes bytes, catalog_.pages().read(keys_, begin, keys_.page(page).size_bytes));
  return KeyPage::open(bytes);
}

Result<std::string> View::key(Row row) const {
  LEAT_DO(check_below(row, sample_count()));
  std::uint32_t rank = row;
  if (ranks_.size_bytes > 0) {
    LEAT_TRY(const Bytes bytes, catalog_.pages().read(ranks_, std::uint64_t{row} * 4, 4));
    rank = load_u32(bytes);
  }
  if (rank >= sample_count()) return fail(Errc::corrupt, "the ranks of a snapshot are damaged");
  LEAT_TRY(const std::uint32_t number, catalog_.page_of_rank(rank));
  LEAT_TRY(const std::uint32_t first, catalog_.first_rank_of_page(number));
  LEAT_TRY(KeyPage page, key_page(number));
  LEAT_TRY(const bool is_there, page.seek_slot(rank - first));
  if (!is_there || page.row() != row) {
    return fail(Errc::corrupt, "the keys of a snapshot are damaged");
  }
  return page.key();
}

Result<std::optional<Row>> View::find(std::string_view key) const {
  LEAT_TRY(const auto number, catalog_.page_of(key));
  if (!number) return std::nullopt;
  LEAT_TRY(KeyPage page, key_page(*number));
  LEAT_TRY(const bool is_there, page.seek(key));
  if (!is_there || page.key() != key) return std::nullopt;
  if (page.row() >= sample_count()) {
    return fail(Errc::corrupt, "the keys of a snapshot are damaged");
  }
  return std::optional(page.row());
}

Status View::for_each(std::string_view prefix, std::string_view after, const Visit& visit) const {
  KeyCursor cursor(*this);
  LEAT_TRY(bool is_there, cursor.seek(std::max(prefix, after)));
  while (is_there) {
    if (!cursor.key().starts_with(prefix)) {
      if (cursor.key() > prefix) return {};
    } else if (after.empty() || cursor.key() > after) {
      if (!visit(cursor.key(), cursor.row())) return {};
    }
    LEAT_TRY(is_there, cursor.next());
  }
  return {};
}

Result<bool> KeyCursor::next() {
  while (true) {
    if (page_) {
      LEAT_TRY(const bool is_there, page_->next());
      if (is_there && page_->row() >= view_.sample_count()) {
        return fail(Errc::corrupt, "the keys of a snapshot are damaged");
      }
      if (is_there) return true;
    }
    if (next_page_ >= view_.catalog().footer().key_pages) return false;
    LEAT_TRY(page_, view_.key_page(next_page_++));
  }
}

Result<bool> KeyCursor::seek(std::string_view key) {
  LEAT_TRY(const auto number, view_.catalog().page_of(key));
  page_.reset();
  next_page_ = number.value_or(0);
  while (true) {
    LEAT_TRY(const bool is_there, next());
    if (!is_there || page_->key() >= key) return is_there;
  }
}

}  // namespace leat::snapshot
