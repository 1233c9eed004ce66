#include "snapshot/writer.h"

#include <algorithm>

#include "codec/codec.h"

namespace leat::snapshot {
namespace {

constexpr std::size_t kBufferBytes = kMiB;
constexpr std::size_t kAlignment = 8;

}  // namespace

void FingerprintMaker::end_section(SectionKind kind, std::uint64_t size_bytes) {
  std::string end;
  codec::Encoder out(end);
  out.u32(static_cast<std::uint32_t>(kind));
  out.u64(size_bytes);
  digest_.update(as_bytes(end));
}

Fingerprint FingerprintMaker::finish() {
  const hash::Sha256::Value value = digest_.finish();
  Fingerprint fingerprint;
  std::copy_n(value.begin(), fingerprint.size(), fingerprint.begin());
  return fingerprint;
}

SectionWriter::SectionWriter(const Sink& sink) : sink_(sink) {
  put(encode_header());
}

void SectionWriter::put(std::string_view bytes) {
  buffer_ += bytes;
  offset_ += bytes.size();
  if (buffer_.size() >= kBufferBytes) flush();
}

void SectionWriter::flush() {
  if (status_) status_ = sink_(buffer_);
  buffer_.clear();
}

void SectionWriter::begin(SectionKind kind, std::uint32_t flags) {
  put(std::string((kAlignment - offset_ % kAlignment) % kAlignment, '\0'));
  footer_.sections.push_back({.kind = kind,
                              .flags = flags,
                              .offset = offset_,
                              .first_sum = static_cast<std::uint32_t>(footer_.sums.size() / 4)});
}

void SectionWriter::append(std::string_view bytes) {
  footer_.sections.back().size_bytes += bytes.size();
  while (!bytes.empty()) {
    const std::size_t part = std::min<std::size_t>(bytes.size(), kPageBytes - page_.size());
    page_ += bytes.substr(0, part);
    bytes.remove_prefix(part);
    if (page_.size() == kPageBytes) end_page();
  }
}

void SectionWriter::fill_page() {
  if (!page_.empty()) append(std::string(kPageBytes - page_.size(), '\0'));
}

void SectionWriter::end_page() {
  const Section& section = footer_.sections.back();
  const std::uint64_t page = footer_.sums.size() / 4 - section.first_sum;
  codec::Encoder(footer_.sums).u32(page_sum(section.kind, page, as_bytes(page_)));
  fingerprint_.update(as_bytes(page_));
  put(page_);
  page_.clear();
}

void SectionWriter::end() {
  if (!page_.empty()) end_page();
  fingerprint_.end_section(footer_.sections.back().kind, size());
}

void SectionWriter::begin_resident() {
  footer_.resident_offset = offset_;
}

Result<std::uint64_t> SectionWriter::finish(const Footer& counts) {
  footer_.rows = counts.rows;
  footer_.shards = counts.shards;
  footer_.blocks = counts.blocks;
  footer_.key_pages = counts.key_pages;
  footer_.fingerprint = fingerprint_.finish();
  footer_.file_bytes = offset_ + encode(footer_).size();
  put(encode(footer_));
  flush();
  LEAT_DO(std::move(status_));
  return offset_;
}

}  // namespace leat::snapshot
