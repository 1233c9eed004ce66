#include "store/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "rt/shard.h"

namespace leat::store {
namespace {

constexpr std::string_view kNote = "leat-shard";  // "123 246 problem", or "- problem"
constexpr std::string_view kBroken = "- ";
// Data that is longer is not read to get behind it: about what one more open of the files costs.
constexpr std::uint64_t kHopBytes = 1 * kMiB;
// What is opened at once. With all that is left, an archive of large members would open its last
// files once for each member before them.
constexpr std::uint64_t kWindowBytes = 256 * kMiB;

std::uint64_t take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return number;
}

}  // namespace

void note_shard(std::vector<record::Attribute>& attributes, const shard::Summary& seen) {
  std::erase_if(attributes, [](const record::Attribute& one) { return one.name == kNote; });
  if (!seen.is_shard && seen.problem.empty()) return;
  std::string note = fmt::format("{} {} {}", seen.samples, seen.members, seen.problem);
  if (!seen.is_shard) note = fmt::format("{}{}", kBroken, seen.problem);
  attributes.push_back({.name = std::string(kNote), .value = std::move(note)});
}

std::optional<ShardNote> shard_note(const record::Version& version) {
  for (const record::Attribute& one : version.attributes) {
    if (one.name != kNote) continue;
    std::string_view text = one.value;
    if (text.starts_with(kBroken)) {
      text.remove_prefix(kBroken.size());
      return ShardNote{.problem = std::string(text)};
    }
    ShardNote note{.is_indexed = true};
    note.samples = take_number(text);
    note.members = take_number(text);
    note.problem = text;
    return note;
  }
  return std::nullopt;
}

rt::Task<void> scan_files(volume::VolumeReader& reader, const record::Version& version,
                          shard::ShardScanner& scanner) {
  std::uint64_t at = 0;
  while (at < version.size_bytes) {
    const std::uint64_t begin = at;
    const volume::ByteRange window{.offset = at,
                                   .length = std::min(version.size_bytes - at, kWindowBytes)};
    LEAT_CO_TRY(const auto source, co_await reader.open_files(version, window));
    for (;;) {
      LEAT_CO_TRY(const Bytes piece, co_await source->next());
      if (piece.empty()) break;
      scanner.feed(piece);
      at += piece.size();
      if (scanner.skippable() >= kHopBytes) break;
      LEAT_CO_DO(co_await rt::yield());
    }
    const std::uint64_t hop = std::min(scanner.skippable(), version.size_bytes - at);
    scanner.skip(hop);
    at += hop;
    if (at == begin) co_return fail(Errc::corrupt, "an object ends before it should");
  }
  co_return Status{};
}

}  // namespace leat::store
