#include "shards/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rt/shard.h"

namespace leat::shards {
namespace {

// A run that is longer is handed on where it stands; shorter ones are copied together, up to here.
constexpr std::size_t kRunBytes = 16 * kKiB;
constexpr std::size_t kGatherBytes = 128 * kKiB;

std::uint64_t end_of(const volume::ByteRange& range) {
  return range.offset + range.length;
}

}  // namespace

rt::Task<std::string> read_whole(store::ShardStore& store, const store::Found& found,
                                 std::uint64_t max_bytes) {
  const volume::ByteRange all{.offset = 0, .length = found.version.size_bytes};
  if (all.length > max_bytes) {
    co_return fail(Errc::too_large, fmt::format("{} has {} bytes, and may have {} at most",
                                                found.object.key, all.length, max_bytes));
  }
  co_return co_await store.read_text(found, all);
}

rt::Task<void> RangesSource::open() {
  stream_.reset();
  const std::uint64_t begin = ranges_[at_].offset + taken_;
  std::uint64_t end = end_of(ranges_[at_]);
  for (std::size_t next = at_ + 1; next < ranges_.size(); ++next) {
    if (ranges_[next].offset < end || ranges_[next].offset > end + kGapMaxBytes) break;
    end = end_of(ranges_[next]);
  }
  const volume::ByteRange together{.offset = begin, .length = end - begin};
  LEAT_CO_TRY(store::Body body, co_await store_.read(found_, together));
  piece_at_ = begin;
  if (auto* content = std::get_if<volume::Content>(&body)) {
    owner_ = content->owner;
    piece_ = content->bytes;
    co_return Status{};
  }
  stream_ = std::move(std::get<std::unique_ptr<store::ObjectStream>>(body));
  stream_end_ = end;
  LEAT_CO_TRY(piece_, co_await stream_->next());
  co_return Status{};
}

rt::Task<Bytes> RangesSource::next() {
  gathered_.clear();
  while (at_ < ranges_.size()) {
    const volume::ByteRange& range = ranges_[at_];
    const std::uint64_t wanted = range.offset + taken_;
    if (taken_ == range.length) {
      ++at_;
      taken_ = 0;
      continue;
    }
    const std::uint64_t piece_end = piece_at_ + piece_.size();
    if (wanted < piece_at_ || wanted >= piece_end) {
      if (stream_ && wanted >= piece_end && wanted < stream_end_) {
        piece_at_ = piece_end;
        LEAT_CO_TRY(piece_, co_await stream_->next());
      } else {
        LEAT_CO_DO(co_await open());
      }
      if (piece_.empty()) co_return fail(Errc::corrupt, "an object ends before it should");
      LEAT_CO_DO(co_await rt::yield());
      continue;
    }
    const Bytes rest = piece_.subspan(wanted - piece_at_);
    const Bytes run = rest.first(std::min<std::uint64_t>(rest.size(), range.length - taken_));
    if (run.size() >= kRunBytes && !gathered_.empty()) break;
    taken_ += run.size();
    if (run.size() >= kRunBytes) co_return run;
    gathered_ += as_text(run);
    if (gathered_.size() >= kGatherBytes) break;
  }
  if (gathered_.empty()) gathered_ = std::exchange(tail_, std::string());
  co_return as_bytes(gathered_);
}

}  // namespace leat::shards
