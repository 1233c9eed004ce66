#include "volume/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace leat::volume {
namespace {

using record::kBlockBytes;

// The whole blocks that a range touches, within an object of `size_bytes`.
ByteRange widen(ByteRange range, std::uint64_t size_bytes) {
  const std::uint64_t begin = range.offset / kBlockBytes * kBlockBytes;
  const std::uint64_t last = (range.offset + range.length + kBlockBytes - 1) / kBlockBytes;
  return {.offset = begin, .length = std::min(last * kBlockBytes, size_bytes) - begin};
}

}  // namespace

bool is_small(const record::Version& version) {
  return std::holds_alternative<record::SegmentPlace>(version.place);
}

Result<ObjectFilePtr> open_object_file(io::Disk& disk, const Folders& folders,
                                       const record::DiskId& disk_id, record::FileExtent extent) {
  LEAT_TRY(std::shared_ptr<const io::File> file,
           disk.open(folders.file(extent.file), io::OpenMode::read));
  LEAT_TRY(const io::FileInfo info, file->info());
  std::array<std::byte, record::kFileTailBytes> last{};
  if (info.size_bytes < last.size()) {
    return fail(Errc::corrupt, fmt::format("{} is too short", folders.file(extent.file)));
  }
  LEAT_TRY(const std::size_t got, file->read_at(info.size_bytes - last.size(), last));
  LEAT_TRY(const std::uint64_t behind,
           record::bytes_behind_data(Bytes(last).first(got), info.size_bytes));
  std::vector<std::byte> bytes(behind);
  LEAT_TRY(const std::size_t all, file->read_at(info.size_bytes - behind, bytes));
  LEAT_TRY(auto tail, record::decode_file_tail(disk_id, extent.file, Bytes(bytes).first(all)));
  if (tail.data_bytes != extent.size_bytes) {
    return fail(Errc::corrupt,
                fmt::format("{} has another size than its object says", folders.file(extent.file)));
  }
  return std::make_shared<const ObjectFile>(std::move(file), std::move(tail));
}

rt::Task<std::optional<record::Version>> VolumeReader::find(record::ObjectKey object) {
  const index::Index& index = volume_.index();
  auto cached = index.find_cached(object);
  if (cached || cached.error().code() != Errc::would_block) co_return cached;
  using Found = std::optional<record::Version>;
  auto read = kit_.pool.run<Found>([&index, &object] { return index.find(object); });
  co_return co_await std::move(read);
}

rt::Task<std::shared_ptr<const io::File>> VolumeReader::open_segment(record::SegmentId segment) {
  let_go_of_removed();
  if (const auto found = segments_.find(segment.value()); found != segments_.end()) {
    co_return found->second;
  }
  const segment::SegmentFolder& folder = volume_.segments();
  auto opened = kit_.pool.run<std::unique_ptr<io::File>>(
      [&folder, segment] { return folder.open(segment, io::OpenMode::read); });
  auto file = co_await std::move(opened);
  if (!file) co_return fail(file.error());
  if (segments_.size() >= kOpenMax) segments_.erase(segments_.begin());
  std::shared_ptr<const io::File> shared = std::move(*file);
  segments_.insert_or_assign(segment.value(), shared);
  co_return shared;
}

rt::Task<Content> VolumeReader::read_small(const record::Version& version, ByteRange range) {
  const auto& place = std::get<record::SegmentPlace>(version.place);
  LEAT_CO_TRY(const auto file, co_await open_segment(place.segment));
  const std::uint64_t sums_bytes = record::block_count(version.size_bytes) * 4;
  // Checksums and data stand side by side: one read brings both, up to the last block wanted.
  const ByteRange blocks = widen(range, version.size_bytes);
  auto content = std::make_shared<std::string>(sums_bytes + blocks.offset + blocks.length, '\0');
  const MutableBytes target = std::as_writable_bytes(std::span(*content));
  auto got = file->try_read_at(place.offset, target);
  if (!got && got.error().code() == Errc::would_block) {
    got = co_await kit_.file_io.read_at(*file, place.offset, target);
  }
  if (!got) co_return fail(got.error());
  const std::string_view sums = std::string_view(*content).substr(0, sums_bytes);
  const record::SummedData summed{.pieces = {}, .sums = std::string(sums)};
  const bool is_bound = *got == target.size() && summed.sums_crc() == place.sums_crc;
  const Status verified = is_bound ? record::verify_blocks(sums, Bytes(target).subspan(sums_bytes))
                                   : fail(Errc::corrupt, "the checksums are damaged");
  if (!verified) {
    co_return fail(Errc::corrupt,
                   fmt::format("segment {:016x} of {} at offset {}: {}", place.segment.value(),
                               volume_.folders().root(), place.offset, verified.error().detail()));
  }
  content->erase(0, sums_bytes + range.offset);
  content->resize(range.length);
  co_return content;
}

rt::Task<ObjectFilePtr> VolumeReader::open_file(record::FileExtent extent) {
  let_go_of_removed();
  if (const auto found = files_.find(extent.file.value()); found != files_.end()) {
    co_return found->second;
  }
  io::Disk& disk = volume_.disk();
  const Folders& folders = volume_.folders();
  const record::DiskId& id = volume_.identity().disk;
  auto opened = kit_.pool.run<ObjectFilePtr>(
      [&disk, &folders, &id, extent] { return open_object_file(disk, folders, id, extent); });
  auto file = co_await std::move(opened);
  if (!file) co_return fail(file.error());
  if (files_.size() >= kOpenMax) files_.erase(files_.begin());
  files_.insert_or_assign(extent.file.value(), *file);
  co_return std::move(*file);
}

rt::Task<std::unique_ptr<FilesSource>> VolumeReader::open_files(const record::Version& version,
                                                                ByteRange range) {
  std::vector<ObjectFilePtr> files;
  std::vector<ByteRange> ranges;
  std::uint64_t begin = 0;
  for (const record::FileExtent& extent :
       std::get<std::vector<record::FileExtent>>(version.place)) {
    const std::uint64_t end = begin + extent.size_bytes;
    const std::uint64_t from = std::max(begin, range.offset);
    const std::uint64_t to = std::min(end, range.offset + range.length);
    if (from < to) {
      LEAT_CO_TRY(auto file, co_await open_file(extent));
      files.push_back(std::move(file));
      ranges.push_back({.offset = from - begin, .length = to - from});
    }
    begin = end;
  }
  co_return std::make_unique<FilesSource>(kit_, std::move(files), std::move(ranges));
}

void VolumeReader::let_go_of_removed() {
  if (removals_ == volume_.removals()) return;
  removals_ = volume_.removals();
  segments_.clear();
  files_.clear();
}

rt::Task<Bytes> FilesSource::next() {
  if (left_ == 0) {
    reading_.reset();
    if (at_ == files_.size()) co_return Bytes{};
    const ObjectFile& file = *files_[at_];
    const ByteRange range = ranges_[at_];
    const ByteRange blocks = widen(range, file.tail.data_bytes);
    block_ = blocks.offset / kBlockBytes;
    skip_ = range.offset - blocks.offset;
    left_ = range.length;
    io::ReadAheadSource source{.file = file.file, .offset = blocks.offset, .length = blocks.length};
    reading_ =
        std::make_unique<io::ReadAhead>(kit_.shard, kit_.file_io, kit_.buffers, std::move(source));
    ++at_;
  }
  LEAT_CO_TRY(Bytes piece, co_await reading_->next());
  const ObjectFile& file = *files_[at_ - 1];
  const std::string_view sums = std::string_view(file.tail.sums).substr(block_ * 4);
  if (const Status verified = record::verify_blocks(sums, piece); !verified) {
    co_return fail(Errc::corrupt,
                   fmt::format("file {:016x}, from block {}: {}", file.tail.file.value(), block_,
                               verified.error().detail()));
  }
  block_ += record::block_count(piece.size());
  piece = piece.subspan(skip_, std::min<std::uint64_t>(left_, piece.size() - skip_));
  skip_ = 0;
  left_ -= piece.size();
  co_return piece;
}

}  // namespace leat::volume
