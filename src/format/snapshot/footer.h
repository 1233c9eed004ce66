// The end of a snapshot: its sections, the checksum of each of their pages, and a fixed tail.
//
// It is written last, so that a snapshot is made in one pass, and read first: who has the footer
// can verify any page of any section by itself. docs/formats/snapshot.md.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "snapshot/types.h"

namespace leat::snapshot {

constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kTailBytes = 80;
// The unit of verification, and what a remote look-up reads at once.
constexpr std::uint64_t kPageBytes = 64 * kKiB;

enum class SectionKind : std::uint32_t {
  fields = 1,     // names and widths of the columns
  samples = 2,    // a row a sample: place and sizes
  wide = 3,       // samples that fit no row
  blocks = 4,     // the first row of each block
  shards = 5,     // what the shards are, and their first rows
  keys = 6,       // front-coded, sorted, in pages
  directory = 7,  // the first key of each page
  ranks = 8,      // row to place in the sorted keys; left out when both orders are the same
  recipes = 9,    // numbers of shards that are recipes; left out when there are none
};

// Set in `flags`: a reader that does not know the section's kind must not read the snapshot.
constexpr std::uint32_t kSectionRequired = 1;

struct Section {
  SectionKind kind{};
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t first_sum = 0;

  std::uint64_t page_count() const { return (size_bytes + kPageBytes - 1) / kPageBytes; }
  // Where page `page` is in the snapshot. Requires: page < page_count().
  Range page(std::uint64_t page) const;
};

struct Footer {
  Fingerprint fingerprint{};
  std::uint64_t file_bytes = 0;
  // What a remote reader fetches once: from here to the end of the file.
  std::uint64_t resident_offset = 0;
  std::uint32_t rows = 0;
  std::uint32_t shards = 0;
  std::uint32_t blocks = 0;
  std::uint32_t key_pages = 0;
  std::vector<Section> sections{};
  std::string sums{};  // 4 bytes a page, little-endian, by section
};

std::string encode_header();
std::string encode(const Footer& footer);

// The checksum of a page: it starts from where the page belongs, so that no page passes for
// another.
std::uint32_t page_sum(SectionKind kind, std::uint64_t page, Bytes bytes);

// Errors: corrupt; not_implemented for a later format.
Status check_header(Bytes first);
// How many bytes at the end of a snapshot must be read before anything else can be, from the last
// kTailBytes of it. Nothing is verified yet.
// Errors: corrupt, not_implemented.
Result<std::uint64_t> resident_bytes(Bytes last, std::uint64_t file_bytes);
// From the last bytes of a snapshot, at least as many as the footer has. Ensures: every section
// lies before the footer and all its pages have sums.
// Errors: corrupt; not_implemented for a later format and for an unknown section that is required.
Result<Footer> decode_footer(Bytes last, std::uint64_t file_bytes);

}  // namespace leat::snapshot
