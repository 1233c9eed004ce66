#include "snapshot/key_page.h"

#include <algorithm>

#include "base/check.h"
#include "snapshot/pages.h"

namespace leat::snapshot {
namespace {

using codec::Decoder;
using codec::Encoder;

constexpr std::size_t kCountBytes = 4;
constexpr std::size_t kRestartBytes = 2;

auto damaged() {
  return fail(Errc::corrupt, "a page of a snapshot's keys is damaged");
}

// Rows that follow one another, which most do, take one byte.
std::uint64_t zigzag(Row row, Row after) {
  const auto step = static_cast<std::int64_t>(row) - static_cast<std::int64_t>(after) - 1;
  return static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63);
}
std::uint64_t unzigzag(std::uint64_t coded, Row after) {
  const std::uint64_t step = coded >> 1 ^ (0 - (coded & 1));
  return after + 1 + step;
}

std::size_t shared_bytes(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

bool KeyPageWriter::add(std::string_view key, Row row, std::optional<std::uint32_t> wide) {
  const bool is_restart = count_ % kRestartEvery == 0;
  const std::size_t shared = is_restart ? 0 : shared_bytes(key_, key);
  std::string entry;
  Encoder out(entry);
  if (!is_restart) out.varint(shared);
  out.text(key.substr(shared));
  const std::uint64_t coded = is_restart ? row : zigzag(row, row_);
  out.varint(coded << 1 | (wide ? 1U : 0U));
  if (wide) out.varint(*wide);
  const std::size_t restarts = restarts_.size() + (is_restart ? 1 : 0);
  const std::size_t page = kCountBytes + restarts * kRestartBytes + entries_.size() + entry.size();
  if (page > kPageBytes) return false;
  if (is_restart) restarts_.push_back(entries_.size());
  entries_ += entry;
  ++count_;
  key_ = key;
  row_ = row;
  return true;
}

std::string KeyPageWriter::take() {
  std::string page;
  Encoder out(page);
  out.u32(static_cast<std::uint32_t>(count_));
  const std::size_t entries_at = kCountBytes + restarts_.size() * kRestartBytes;
  for (const std::size_t restart : restarts_) {
    out.u8(static_cast<std::uint8_t>((entries_at + restart) & 0xff));
    out.u8(static_cast<std::uint8_t>((entries_at + restart) >> 8));
  }
  page += entries_;
  *this = KeyPageWriter();
  return page;
}

Result<KeyPage> KeyPage::open(Bytes page) {
  if (page.size() < kCountBytes || page.size() > kPageBytes) return damaged();
  KeyPage opened(as_text(page), load_u32(page));
  if (opened.count_ > kPageBytes ||
      kCountBytes + opened.restart_count() * kRestartBytes > page.size()) {
    return damaged();
  }
  if (opened.count_ > 0) opened.go_to_restart(0);
  return opened;
}

void KeyPage::go_to_restart(std::size_t restart) {
  const Bytes at = as_bytes(page_).subspan(kCountBytes + restart * kRestartBytes);
  const std::size_t offset = load(at, kRestartBytes);
  in_ = Decoder(page_.substr(std::min(offset, page_.size())));
  slot_ = restart * kRestartEvery;
}

Result<bool> KeyPage::next() {
  if (slot_ >= count_) return false;
  const bool is_restart = slot_ % kRestartEvery == 0;
  if (is_restart) go_to_restart(slot_ / kRestartEvery);
  const std::uint64_t shared = is_restart ? 0 : in_.varint();
  const std::string_view rest = in_.text();
  const std::uint64_t head = in_.varint();
  const std::uint64_t row = is_restart ? head >> 1 : unzigzag(head >> 1, row_);
  const std::uint64_t wide = (head & 1) != 0 ? in_.varint() : 0;
  if (in_.failed() || shared > key_.size() || shared + rest.size() > kKeyMaxBytes ||
      row > kRowsMax || wide > 0x7FFF'FFFF) {
    return damaged();
  }
  key_.resize(shared);
  key_ += rest;
  row_ = static_cast<Row>(row);
  wide_.reset();
  if ((head & 1) != 0) wide_ = static_cast<std::uint32_t>(wide);
  ++slot_;
  return true;
}

Result<bool> KeyPage::seek_slot(std::size_t slot) {
  if (slot >= count_) return false;
  go_to_restart(slot / kRestartEvery);
  while (slot_ < slot)
    LEAT_DO(next());
  return next();
}

Result<std::string_view> KeyPage::restart_key(std::size_t restart) const {
  KeyPage at = KeyPage(page_, count_);
  at.go_to_restart(restart);
  const std::string_view key = at.in_.text();
  if (at.in_.failed()) return damaged();
  return key;
}

Result<bool> KeyPage::seek(std::string_view key) {
  if (count_ == 0) return false;
  // The last full key that is before `key`: the entry is behind it, or the next full one.
  std::size_t low = 0;
  std::size_t high = restart_count();
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    LEAT_TRY(const std::string_view full, restart_key(middle));
    (full < key ? low : high) = middle;
  }
  go_to_restart(low);
  while (true) {
    LEAT_TRY(const bool is_there, next());
    if (!is_there || key_ >= key) return is_there;
  }
}

}  // namespace leat::snapshot
