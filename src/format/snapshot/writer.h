// SectionWriter: writes the sections of a snapshot one behind the other, summing each page, and the
// footer in the end. One pass: it keeps the sums and nothing else.
#pragma once

#include <functional>

#include "base/result.h"
#include "hash/digest.h"
#include "snapshot/footer.h"

namespace leat::snapshot {

// Takes the bytes of a snapshot in their order.
using Sink = std::function<Status(std::string_view bytes)>;

// The fingerprint: half a SHA-256 over each section's bytes, kind and size.
class FingerprintMaker {
 public:
  void update(Bytes bytes) { digest_.update(bytes); }
  void end_section(SectionKind kind, std::uint64_t size_bytes);
  Fingerprint finish();

 private:
  hash::Sha256 digest_;
};

// Lifetime: the sink outlives it. After an error of the sink nothing more is given to it; finish()
// says it.
class SectionWriter {
 public:
  explicit SectionWriter(const Sink& sink);

  void begin(SectionKind kind, std::uint32_t flags = kSectionRequired);
  void append(std::string_view bytes);
  // Zeroes up to the end of the page, if one is begun.
  void fill_page();
  // Bytes of the section so far.
  std::uint64_t size() const { return footer_.sections.back().size_bytes; }
  void end();

  // What follows is read once by remote readers.
  void begin_resident();

  // Writes the footer with the counts of `counts`; gives the size of the snapshot.
  // Errors: those of the sink.
  Result<std::uint64_t> finish(const Footer& counts);

 private:
  void put(std::string_view bytes);
  void flush();
  void end_page();

  const Sink& sink_;
  Status status_;
  std::string buffer_;
  std::uint64_t offset_ = 0;
  std::string page_;  // begun
  Footer footer_;
  FingerprintMaker fingerprint_;
};

}  // namespace leat::snapshot
