#include "snapshot/pages.h"

namespace leat::snapshot {

std::uint64_t load(Bytes bytes, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

std::uint32_t load_u32(Bytes bytes) {
  return static_cast<std::uint32_t>(load(bytes, 4));
}

Pages::Pages(Bytes last, Footer footer)
    : last_(last),
      first_offset_(footer.file_bytes - last.size()),
      footer_(std::move(footer)),
      verified_(std::make_unique<std::atomic<std::uint64_t>[]>(footer_.sums.size() / 256 + 1)) {}

Result<Pages> Pages::open(Bytes last, std::uint64_t file_bytes) {
  if (last.size() > file_bytes) return fail(Errc::corrupt, "a snapshot is longer than it says");
  LEAT_TRY(Footer footer, decode_footer(last, file_bytes));
  return Pages(last, std::move(footer));
}

Section Pages::section(SectionKind kind) const {
  for (const Section& section : footer_.sections)
    if (section.kind == kind) return section;
  return {.kind = kind};
}

Status Pages::verify(const Section& section, std::uint64_t page, Bytes bytes) const {
  const bool is_there =
      page < section.page_count() && bytes.size() == section.page(page).size_bytes;
  if (is_there) {
    const std::uint64_t sum = section.first_sum + page;
    const Bytes stored = as_bytes(footer_.sums).subspan(sum * 4, 4);
    if (page_sum(section.kind, page, bytes) == load_u32(stored)) return {};
  }
  return fail(Errc::corrupt, "a page of a snapshot is damaged");
}

Result<Bytes> Pages::read(const Section& section, std::uint64_t offset,
                          std::uint64_t size_bytes) const {
  const bool is_inside = offset <= section.size_bytes && size_bytes <= section.size_bytes - offset;
  if (is_inside && size_bytes == 0) return Bytes{};
  if (!is_inside || section.offset < first_offset_) {
    return fail(Errc::corrupt, "a snapshot points outside of itself");
  }
  const std::uint64_t last_page = (offset + size_bytes - 1) / kPageBytes;
  for (std::uint64_t page = offset / kPageBytes; page <= last_page; ++page) {
    const std::uint64_t sum = section.first_sum + page;
    std::atomic<std::uint64_t>& bits = verified_[sum / 64];
    const std::uint64_t bit = std::uint64_t{1} << (sum % 64);
    if ((bits.load(std::memory_order_relaxed) & bit) != 0) continue;
    const Range range = section.page(page);
    LEAT_DO(verify(section, page, last_.subspan(range.offset - first_offset_, range.size_bytes)));
    bits.fetch_or(bit, std::memory_order_relaxed);
  }
  return last_.subspan(section.offset - first_offset_ + offset, size_bytes);
}

}  // namespace leat::snapshot
