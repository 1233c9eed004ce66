// Pages: verified reads of a snapshot's bytes, or of its last bytes.
//
// A page is checked when it is touched for the first time, and remembered as good in one bit. Who
// maps a file trusts it not to change under the mapping; what is decoded is bounded all the same.
//
// Threads: const calls may come from many at once. Lifetime: `bytes` outlives it.
#pragma once

#include <atomic>
#include <memory>

#include "base/result.h"
#include "snapshot/footer.h"

namespace leat::snapshot {

class Pages {
 public:
  // `last`: the snapshot's bytes from some offset to its end.
  // Errors: as decode_footer().
  static Result<Pages> open(Bytes last, std::uint64_t file_bytes);

  const Footer& footer() const { return footer_; }
  // The first section of a kind; an empty one if there is none.
  Section section(SectionKind kind) const;

  // Errors: corrupt, also when the bytes are outside of the section or before `last`.
  Result<Bytes> read(const Section& section, std::uint64_t offset, std::uint64_t size_bytes) const;

  // For pages that came from elsewhere.
  // Errors: corrupt.
  Status verify(const Section& section, std::uint64_t page, Bytes bytes) const;

 private:
  Pages(Bytes last, Footer footer);

  Bytes last_;
  std::uint64_t first_offset_;
  Footer footer_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> verified_;  // a bit a page, by sum
};

// Little-endian numbers at the front of `bytes`. Requires: there are as many bytes.
std::uint32_t load_u32(Bytes bytes);
std::uint64_t load(Bytes bytes, std::size_t width);

}  // namespace leat::snapshot
