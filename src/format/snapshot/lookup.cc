#include "snapshot/lookup.h"

#include "snapshot/key_page.h"

namespace leat::snapshot {

Lookup::Lookup(const Catalog& catalog, std::string key) : catalog_(catalog), key_(std::move(key)) {}

Result<std::optional<Range>> Lookup::next() {
  if (step_ == Step::begin) {
    LEAT_TRY(const auto page, catalog_.page_of(key_));
    step_ = page ? Step::key : Step::done;
    section_ = catalog_.pages().section(SectionKind::keys);
    page_ = page.value_or(0);
  }
  if (step_ == Step::done) return std::nullopt;
  return std::optional(section_.page(page_));
}

Status Lookup::feed(Bytes bytes) {
  LEAT_DO(catalog_.pages().verify(section_, page_, bytes));
  if (step_ == Step::key) return feed_keys(bytes);
  LEAT_TRY(const Range at,
           wide_ ? catalog_.wide_range(*wide_) : Result<Range>(catalog_.row_range(row_)));
  const Bytes record = bytes.subspan(at.offset % kPageBytes, at.size_bytes);
  Sample sample;
  if (wide_) {
    LEAT_DO(catalog_.decode_wide_row(record, row_, sample));
  } else {
    LEAT_TRY(const auto wide, catalog_.decode_row(record, row_, sample));
    if (wide) return fail(Errc::corrupt, "the keys of a snapshot are damaged");
  }
  found_ = std::move(sample);
  step_ = Step::done;
  return {};
}

Status Lookup::feed_keys(Bytes bytes) {
  LEAT_TRY(KeyPage page, KeyPage::open(bytes));
  LEAT_TRY(const bool is_there, page.seek(key_));
  step_ = Step::done;
  if (!is_there || page.key() != key_) return {};
  row_ = page.row();
  wide_ = page.wide();
  if (row_ >= catalog_.footer().rows) {
    return fail(Errc::corrupt, "the keys of a snapshot are damaged");
  }
  LEAT_TRY(const Range at,
           wide_ ? catalog_.wide_range(*wide_) : Result<Range>(catalog_.row_range(row_)));
  section_ = catalog_.pages().section(wide_ ? SectionKind::wide : SectionKind::samples);
  page_ = at.offset / kPageBytes;
  step_ = Step::row;
  return {};
}

}  // namespace leat::snapshot
