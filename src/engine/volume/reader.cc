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
  const std::size_t length = sums_bytes + blocks.offset + blocks.length;
  const auto memory = std::make_shared_for_overwrite<std::byte[]>(length);
  const MutableBytes target(memory.get(), length);
  auto got = file->try_read_at(place.offset, target);
  if (!got && got.error().code() == Errc::would_block) {
    got = co_await kit_.file_io.read_at(*file, place.offset, target);
  }
  if (!got) co_return fail(got.error());
  const std::string_view sums = as_text(Bytes(target).first(sums_bytes));
  const record::SummedData summed{.pieces = {}, .sums = std::string(sums)};
  const bool is_bound = *got == target.size() && summed.sums_crc() == place.sums_crc;
  const Status verified = is_bound ? record::verify_blocks(sums, Bytes(target).subspan(sums_bytes))
                                   : fail(Errc::corrupt, "the checksums are damaged");
  if (!verified) {
    co_return fail(Errc::corrupt,
                   fmt::format("segment {:016x} of {} at offset {}: {}", place.segment.value(),
                               volume_.folders().root(), place.offset, verified.error().detail()));
  }
  co_return Content{.owner = memory,
                    .bytes = Bytes(target).subspan(sums_bytes + range.offset, range.length)};
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
  std::vector<FilePart> parts;
  std::uint64_t begin = 0;
  for (const record::FileExtent& extent :
       std::get<std::vector<record::FileExtent>>(version.place)) {
    const std::uint64_t end = begin + extent.size_bytes;
    const std::uint64_t from = std::max(begin, range.offset);
    const std::uint64_t to = std::min(end, range.offset + range.length);
    if (from < to) {
      LEAT_CO_TRY(auto file, co_await open_file(extent));
      PinPtr pin = kit_.pins != nullptr ? kit_.pins->find(extent.file) : nullptr;
      parts.push_back({.file = std::move(file),
                       .range = {.offset = from - begin, .length = to - from},
                       .pin = std::move(pin)});
    }
    begin = end;
  }
  co_return std::make_unique<FilesSource>(kit_, std::move(parts));
}

void VolumeReader::let_go_of_removed() {
  if (removals_ == volume_.removals()) return;
  removals_ = volume_.removals();
  segments_.clear();
  files_.clear();
  if (kit_.pins != nullptr) kit_.pins->let_go_of_changed();
}

namespace {

// Maps the file, locks it in memory and verifies it there. Blocks.
Result<PinPtr> pin(const ObjectFile& file) {
  LEAT_TRY(const io::FileInfo info, file.file->info());
  LEAT_TRY(auto mapping, file.file->map_locked(file.tail.data_bytes));
  LEAT_DO(record::verify_blocks(file.tail.sums, mapping->bytes()));
  return std::make_shared<const Pin>(std::move(mapping), file.file, info.changed);
}

rt::Task<void> pin_in_background(ObjectFilePtr file, rt::BlockingPool& pool, Pins& pins) {
  auto pinned = pool.run<PinPtr>([&file] { return pin(*file); });
  auto outcome = co_await std::move(pinned);
  // Without the right to lock memory, or with damage, the file is read and verified each time.
  pins.done(file->tail.file, outcome ? std::move(*outcome) : nullptr);
  co_return Status{};
}

}  // namespace

void FilesSource::start(const FilePart& part) {
  left_ = part.range.length;
  if (part.pin) return;
  const ByteRange blocks = widen(part.range, part.file->tail.data_bytes);
  block_ = blocks.offset / kBlockBytes;
  skip_ = part.range.offset - blocks.offset;
  io::ReadAheadSource source{
      .file = part.file->file, .offset = blocks.offset, .length = blocks.length};
  reading_ =
      std::make_unique<io::ReadAhead>(kit_.shard, kit_.file_io, kit_.buffers, std::move(source));
}

// A file that was read from end to end is in the page cache now: the time to pin it.
void FilesSource::finish(const FilePart& part) {
  reading_.reset();
  const bool is_whole = part.range.length == part.file->tail.data_bytes;
  if (part.pin || !is_whole || kit_.pins == nullptr) return;
  if (!kit_.pins->wants(part.file->tail.file, part.range.length)) return;
  kit_.shard.spawn(pin_in_background(part.file, kit_.pool, *kit_.pins), [](const Status&) {});
}

rt::Task<Bytes> FilesSource::next() {
  if (left_ == 0) {
    if (at_ > 0) finish(parts_[at_ - 1]);
    if (at_ == parts_.size()) {
      at_ = 0;
      parts_.clear();
      co_return Bytes{};
    }
    start(parts_[at_++]);
  }
  const FilePart& part = parts_[at_ - 1];
  if (part.pin) {
    left_ = 0;
    co_return part.pin->mapping->bytes().subspan(part.range.offset, part.range.length);
  }
  LEAT_CO_TRY(Bytes piece, co_await reading_->next());
  const std::string_view sums = std::string_view(part.file->tail.sums).substr(block_ * 4);
  if (const Status verified = record::verify_blocks(sums, piece); !verified) {
    co_return fail(Errc::corrupt,
                   fmt::format("file {:016x}, from block {}: {}", part.file->tail.file.value(),
                               block_, verified.error().detail()));
  }
  block_ += record::block_count(piece.size());
  piece = piece.subspan(skip_, std::min<std::uint64_t>(left_, piece.size() - skip_));
  skip_ = 0;
  left_ -= piece.size();
  co_return piece;
}

std::optional<FilesSource::InFile> FilesSource::in_file() const {
  if (at_ == 0 || !parts_[at_ - 1].pin) return std::nullopt;
  const FilePart& part = parts_[at_ - 1];
  return InFile{.file = part.pin->file, .offset = part.range.offset};
}

}  // namespace leat::volume
