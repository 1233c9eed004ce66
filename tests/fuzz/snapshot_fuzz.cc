// Fuzzes snapshots. The input's checksums are made right first, or nothing would get past them.
// Checked of every input:
//   1. whatever fails is corrupt or of a later format;
//   2. a look-up of a key in pages, as a remote client does it, finds what find() finds;
//   3. a snapshot that verify_all() passes, built again from what it says, says the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "hash/crc32c.h"
#include "snapshot/builder.h"
#include "snapshot/lookup.h"
#include "snapshot/view.h"
#include "snapshot/writer.h"

namespace {

using namespace leat;
using namespace leat::snapshot;

template <class T>
bool passed(const Result<T>& result) {
  if (result) return true;
  LEAT_CHECK(result.error().code() == Errc::corrupt ||
             result.error().code() == Errc::not_implemented);
  return false;
}

void put_u32(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    bytes[at + i] = static_cast<char>(value >> (8 * i));
}

// Sets the size, the sum of each page and the sum of the footer, as far as they are there.
void seal(std::string& bytes) {
  if (bytes.size() < kHeaderBytes + kTailBytes) return;
  const std::size_t tail = bytes.size() - kTailBytes;
  put_u32(bytes, tail + 32, static_cast<std::uint32_t>(bytes.size()));
  put_u32(bytes, tail + 36, 0);
  const Bytes numbers = as_bytes(bytes).subspan(tail);
  const std::uint64_t sections = load_u32(numbers.subspan(64));
  const std::uint64_t sums = load_u32(numbers.subspan(68));
  if (sections > 64 || sums > 1000 || sections * 32 + sums * 4 > tail - kHeaderBytes) return;
  const std::size_t sums_at = tail - sums * 4;
  const std::size_t table_at = sums_at - sections * 32;
  FingerprintMaker fingerprint;
  for (std::size_t i = 0; i < sections; ++i) {
    const Bytes entry = as_bytes(bytes).subspan(table_at + i * 32, 32);
    const Section section{.kind = static_cast<SectionKind>(load_u32(entry)),
                          .offset = load(entry.subspan(8), 8),
                          .size_bytes = load(entry.subspan(16), 8),
                          .first_sum = load_u32(entry.subspan(24))};
    // One page each: inputs are small.
    if (section.offset > table_at || section.size_bytes > table_at - section.offset ||
        section.first_sum > sums) {
      continue;
    }
    const Bytes page = as_bytes(bytes).subspan(section.offset, section.size_bytes);
    fingerprint.update(page);
    fingerprint.end_section(section.kind, section.size_bytes);
    if (page.empty() || section.first_sum == sums) continue;
    put_u32(bytes, sums_at + section.first_sum * 4, page_sum(section.kind, 0, page));
  }
  std::ranges::copy(as_text(fingerprint.finish()), bytes.begin() + static_cast<long>(tail) + 16);
  const Bytes footer = as_bytes(bytes).subspan(table_at);
  const std::uint32_t sum = hash::crc32c(footer.first(footer.size() - kTailBytes));
  put_u32(bytes, tail, hash::crc32c(footer.last(kTailBytes - 4), sum));
}

std::optional<Row> look_up(const View& view, std::string_view bytes, const std::string& key) {
  Lookup lookup(view.catalog(), key);
  for (int reads = 0; reads < 3; ++reads) {
    const auto range = lookup.next();
    if (!passed(range)) return std::nullopt;
    if (!*range) break;
    LEAT_CHECK(reads < 2);
    const auto page = bytes.substr((*range)->offset, (*range)->size_bytes);
    if (!passed(lookup.feed(as_bytes(page)))) return std::nullopt;
  }
  if (!lookup.found()) return std::nullopt;
  return lookup.found()->row;
}

// What verify_all() passed, through a Builder.
std::string built_again(const View& view) {
  BuilderOptions options{.fields = view.fields()};
  Builder builder(std::move(options));
  Row row = 0;
  for (std::uint32_t shard = 0; shard < view.shard_count(); ++shard) {
    LEAT_CHECK(builder.begin_shard(view.shard(shard).value()));
    for (; row < view.sample_count(); ++row) {
      const Sample sample = view.sample(row).value();
      if (sample.shard != shard) break;
      std::vector<FieldOf> fields;
      for (std::size_t id = 0; id < sample.fields.size(); ++id)
        if (sample.fields[id]) fields.push_back({view.fields()[id], *sample.fields[id]});
      if (!builder.add_sample(view.key(row).value(), sample.start, sample.end, fields)) return {};
    }
  }
  return builder.finish().value();
}

void check_again(const View& view) {
  const std::string again = built_again(view);
  if (again.empty()) return;  // fields of the same name
  const auto other = View::open(as_bytes(again));
  LEAT_CHECK(other && other->verify_all());
  LEAT_CHECK(other->sample_count() == view.sample_count());
  for (Row row = 0; row < view.sample_count(); ++row) {
    LEAT_CHECK(other->key(row).value() == view.key(row).value());
    LEAT_CHECK(other->sample(row).value() == view.sample(row).value());
    LEAT_CHECK(other->find(view.key(row).value()).value() ==
               view.find(view.key(row).value()).value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  seal(bytes);
  const auto view = View::open(as_bytes(bytes));
  if (!passed(view)) return 0;
  const Row rows = std::min<Row>(view->sample_count(), 100);
  for (Row row = 0; row < rows; ++row) {
    passed(view->sample(row));
    passed(view->block_of(row));
    const auto key = view->key(row);
    if (!passed(key)) continue;
    const auto found = view->find(*key);
    if (const auto remote = look_up(*view, bytes, *key); remote && passed(found)) {
      LEAT_CHECK(remote == *found);
    }
  }
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(view->block_count(), 100); ++i)
    passed(view->block(i));
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(view->shard_count(), 100); ++i)
    passed(view->shard(i));
  std::size_t count = 0;
  passed(view->for_each("", "", [&](std::string_view, Row) { return ++count < 1000; }));
  if (passed(view->verify_all())) check_again(*view);
  return 0;
}
