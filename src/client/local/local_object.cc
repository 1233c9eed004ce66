#include "local/local_object.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "record/frame.h"

namespace leat::local {
namespace {

using record::kBlockBytes;

// Read at once and verified while it is in the core's own cache.
constexpr std::uint64_t kStepBytes = 4 * kBlockBytes;

}  // namespace

LocalObject::LocalObject(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  for (const Piece& piece : pieces_) {
    LEAT_CHECK(piece.size_bytes > 0);
    LEAT_CHECK(piece.sums.size() == record::block_count(piece.size_bytes) * 4);
    begins_.push_back(size_bytes_);
    size_bytes_ += piece.size_bytes;
  }
}

Status LocalObject::read(std::uint64_t offset, MutableBytes target) const {
  if (offset > size_bytes_ || target.size() > size_bytes_ - offset) {
    return fail(Errc::range_not_satisfiable, "the range ends behind the object");
  }
  while (!target.empty()) {
    const auto behind = std::ranges::upper_bound(begins_, offset);
    const auto index = static_cast<std::size_t>(behind - begins_.begin()) - 1;
    const std::uint64_t within = offset - begins_[index];
    const std::uint64_t count =
        std::min<std::uint64_t>(pieces_[index].size_bytes - within, target.size());
    LEAT_DO(read_piece(index, within, target.first(count)));
    offset += count;
    target = target.subspan(count);
  }
  return {};
}

Status LocalObject::read_piece(std::size_t index, std::uint64_t offset, MutableBytes target) const {
  const std::uint64_t size = pieces_[index].size_bytes;
  std::unique_ptr<std::byte[]> scratch;
  while (!target.empty()) {
    const std::uint64_t begin = offset / kBlockBytes * kBlockBytes;
    const std::uint64_t block_bytes = std::min(kBlockBytes, size - begin);
    std::uint64_t count = 0;
    if (offset == begin && target.size() >= block_bytes) {
      count = std::min<std::uint64_t>(target.size(), kStepBytes);
      // Up to the end of the file, or of a block.
      if (offset + count < size) count -= count % kBlockBytes;
      LEAT_DO(read_blocks(index, offset, target.first(count)));
    } else {
      if (scratch == nullptr) scratch = std::make_unique_for_overwrite<std::byte[]>(kBlockBytes);
      const MutableBytes block(scratch.get(), block_bytes);
      LEAT_DO(read_blocks(index, begin, block));
      const std::uint64_t skip = offset - begin;
      count = std::min<std::uint64_t>(target.size(), block_bytes - skip);
      std::ranges::copy(block.subspan(skip, count), target.begin());
    }
    offset += count;
    target = target.subspan(count);
  }
  return {};
}

Status LocalObject::read_blocks(std::size_t index, std::uint64_t offset,
                                MutableBytes target) const {
  const Piece& piece = pieces_[index];
  LEAT_TRY(const std::size_t got, piece.file->read_at(offset, target));
  const std::string_view sums = std::string_view(piece.sums).substr(offset / kBlockBytes * 4);
  const Status verified = got == target.size() ? record::verify_blocks(sums, target)
                                               : fail(Errc::corrupt, "the file is too short");
  if (verified) return {};
  return fail(Errc::corrupt, fmt::format("file {} of {}, from offset {}: {}", index + 1,
                                         pieces_.size(), offset, verified.error().detail()));
}

}  // namespace leat::local
