#include "snapshot/footer.h"

#include <algorithm>

#include "codec/codec.h"
#include "hash/crc32c.h"

namespace leat::snapshot {
namespace {

using codec::Decoder;
using codec::Encoder;

constexpr std::string_view kMagic = "LEATSNAP";
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kSectionBytes = 32;
constexpr std::uint32_t kSectionsMax = 1024;

auto damaged() {
  return fail(Errc::corrupt, "the end of a snapshot is damaged");
}

// The fields of the tail, in their order.
struct Tail {
  std::uint32_t sum = 0;
  Footer footer{};  // without sections and sums
  std::uint32_t section_count = 0;
  std::uint32_t sum_count = 0;

  std::uint64_t footer_bytes() const {
    return std::uint64_t{section_count} * kSectionBytes + std::uint64_t{sum_count} * 4 + kTailBytes;
  }
};

Status check_format(Decoder& in) {
  const std::uint32_t format = in.u32();
  if (in.raw(kMagic.size()) != kMagic || format == 0) {
    return fail(Errc::corrupt, "this is no snapshot");
  }
  if (format > kFormat) return fail(Errc::not_implemented, "a snapshot of a later format");
  return {};
}

Result<Tail> decode_tail(Bytes last, std::uint64_t file_bytes) {
  if (last.size() < kTailBytes || file_bytes < kHeaderBytes + kTailBytes) {
    return fail(Errc::corrupt, "a snapshot is too short");
  }
  Decoder in(last.last(kTailBytes));
  Tail tail;
  tail.sum = in.u32();
  LEAT_DO(check_format(in));
  const std::string_view fingerprint = in.raw(sizeof(Fingerprint));
  std::ranges::copy(as_bytes(fingerprint), tail.footer.fingerprint.begin());
  tail.footer.file_bytes = in.u64();
  tail.footer.resident_offset = in.u64();
  tail.footer.rows = in.u32();
  tail.footer.shards = in.u32();
  tail.footer.blocks = in.u32();
  tail.footer.key_pages = in.u32();
  tail.section_count = in.u32();
  tail.sum_count = in.u32();
  const bool fits = tail.footer.file_bytes == file_bytes && tail.section_count <= kSectionsMax &&
                    tail.footer_bytes() <= file_bytes - kHeaderBytes &&
                    tail.footer.resident_offset >= kHeaderBytes &&
                    tail.footer.resident_offset <= file_bytes - tail.footer_bytes();
  if (!fits) return damaged();
  return tail;
}

Section take_section(Decoder& in) {
  Section section;
  section.kind = static_cast<SectionKind>(in.u32());
  section.flags = in.u32();
  section.offset = in.u64();
  section.size_bytes = in.u64();
  section.first_sum = in.u32();
  in.u32();
  return section;
}

Status check_section(const Section& section, const Tail& tail) {
  const std::uint64_t end = tail.footer.file_bytes - tail.footer_bytes();
  if (section.offset > end || section.size_bytes > end - section.offset ||
      section.first_sum > tail.sum_count ||
      section.page_count() > tail.sum_count - section.first_sum) {
    return damaged();
  }
  const bool is_known = section.kind >= SectionKind::fields && section.kind <= SectionKind::recipes;
  if (!is_known && (section.flags & kSectionRequired) != 0) {
    return fail(Errc::not_implemented, "a snapshot with a section that this version cannot read");
  }
  return {};
}

}  // namespace

Range Section::page(std::uint64_t page) const {
  const std::uint64_t begin = page * kPageBytes;
  return {.offset = offset + begin, .size_bytes = std::min(kPageBytes, size_bytes - begin)};
}

std::string encode_header() {
  std::string bytes;
  Encoder out(bytes);
  out.u32(kFormat);
  out.raw(kMagic);
  out.u32(0);
  return bytes;
}

Status check_header(Bytes first) {
  if (first.size() < kHeaderBytes) return fail(Errc::corrupt, "a snapshot is too short");
  Decoder in(first);
  return check_format(in);
}

std::string encode(const Footer& footer) {
  std::string bytes;
  Encoder out(bytes);
  for (const Section& section : footer.sections) {
    out.u32(static_cast<std::uint32_t>(section.kind));
    out.u32(section.flags);
    out.u64(section.offset);
    out.u64(section.size_bytes);
    out.u32(section.first_sum);
    out.u32(0);
  }
  out.raw(footer.sums);
  std::string tail;
  Encoder tail_out(tail);
  tail_out.u32(kFormat);
  tail_out.raw(kMagic);
  tail_out.raw(as_text(footer.fingerprint));
  tail_out.u64(footer.file_bytes);
  tail_out.u64(footer.resident_offset);
  for (const std::uint32_t count : {footer.rows, footer.shards, footer.blocks, footer.key_pages})
    tail_out.u32(count);
  tail_out.u32(static_cast<std::uint32_t>(footer.sections.size()));
  tail_out.u32(static_cast<std::uint32_t>(footer.sums.size() / 4));
  tail.resize(kTailBytes - 4, '\0');
  // The checksum covers the whole footer but its own four bytes.
  out.u32(hash::crc32c(as_bytes(tail), hash::crc32c(as_bytes(bytes))));
  out.raw(tail);
  return bytes;
}

std::uint32_t page_sum(SectionKind kind, std::uint64_t page, Bytes bytes) {
  std::string place;
  Encoder out(place);
  out.u32(static_cast<std::uint32_t>(kind));
  out.u32(static_cast<std::uint32_t>(page));
  return hash::crc32c(bytes, hash::crc32c(as_bytes(place)));
}

Result<std::uint64_t> resident_bytes(Bytes last, std::uint64_t file_bytes) {
  LEAT_TRY(const Tail tail, decode_tail(last, file_bytes));
  return file_bytes - tail.footer.resident_offset;
}

Result<Footer> decode_footer(Bytes last, std::uint64_t file_bytes) {
  LEAT_TRY(Tail tail, decode_tail(last, file_bytes));
  if (tail.footer_bytes() > last.size()) return damaged();
  const Bytes bytes = last.last(tail.footer_bytes());
  const Bytes before = bytes.first(bytes.size() - kTailBytes);
  const std::uint32_t sum = hash::crc32c(bytes.last(kTailBytes - 4), hash::crc32c(before));
  if (sum != tail.sum) return damaged();
  Decoder in(before);
  for (std::uint32_t i = 0; i < tail.section_count; ++i) {
    tail.footer.sections.push_back(take_section(in));
    LEAT_DO(check_section(tail.footer.sections.back(), tail));
  }
  tail.footer.sums = in.raw(std::size_t{tail.sum_count} * 4);
  LEAT_DO(in.finish("the footer of a snapshot"));
  return std::move(tail.footer);
}

}  // namespace leat::snapshot
