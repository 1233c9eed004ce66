#include "volume/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hash/crc32c.h"

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

Result<record::FileTail> read_file_tail(const io::File& file, const record::DiskId& disk_id,
                                        record::FileId id) {
  LEAT_TRY(const io::FileInfo info, file.info());
  std::array<std::byte, record::kFileTailBytes> last{};
  if (info.size_bytes < last.size()) {
    return fail(Errc::corrupt, fmt::format("file {:016x} is too short", id.value()));
  }
  LEAT_TRY(const std::size_t got, file.read_at(info.size_bytes - last.size(), last));
  LEAT_TRY(const std::uint64_t behind,
           record::bytes_behind_data(Bytes(last).first(got), info.size_bytes));
  std::vector<std::byte> bytes(behind);
  LEAT_TRY(const std::size_t all, file.read_at(info.size_bytes - behind, bytes));
  return record::decode_file_tail(disk_id, id, Bytes(bytes).first(all));
}

Result<ObjectFilePtr> open_object_file(io::Disk& disk, const Folders& folders,
                                       const record::DiskId& disk_id, record::FileExtent extent) {
  LEAT_TRY(std::shared_ptr<const io::File> file,
           disk.open(folders.file(extent.file), io::OpenMode::read));
  LEAT_TRY(auto tail, read_file_tail(*file, disk_id, extent.file));
  if (tail.data_bytes != extent.size_bytes) {
    return fail(Errc::corrupt,
                fmt::format("{} has another size than its object says", folders.file(extent.file)));
  }
  return std::make_shared<const ObjectFile>(std::move(file), std::move(tail));
}

VolumeReader::VolumeReader(Volume& volume, ShardKit kit)
    : volume_(volume),
      kit_(kit),
      owner_(kit.lookups != nullptr ? kit.lookups->new_owner() : LookupCache::Owner{}) {}

std::optional<record::Version> VolumeReader::recall(const record::ObjectKey& object) {
  if (kit_.lookups == nullptr) return std::nullopt;
  const std::uint64_t hash = index::hash_of(object);
  const auto stamp = volume_.index().revisions().stamp(hash);
  if (!stamp) return std::nullopt;
  const auto known = kit_.lookups->find({.owner = owner_, .object = object, .hash = hash}, *stamp);
  if (!known) return std::nullopt;
  auto version = record::decode_version(*known);
  if (!version) return std::nullopt;
  return std::move(*version);
}

rt::Task<std::optional<record::Version>> VolumeReader::find(record::ObjectKey object) {
  const index::Index& index = volume_.index();
  // Taken before looking: a change in between makes what is found worthless, not wrong.
  const std::uint64_t hash = index::hash_of(object);
  const auto stamp = index.revisions().stamp(hash);
  using Found = std::optional<record::Version>;
  auto found = index.find_cached(object);
  if (!found && found.error().code() == Errc::would_block) {
    auto read = kit_.pool.run<Found>([&index, &object] { return index.find(object); });
    found = co_await std::move(read);
  }
  if (found && *found && stamp && kit_.lookups != nullptr) {
    const LookupCache::Key key{.owner = owner_, .object = object, .hash = hash};
    kit_.lookups->keep(key, *stamp, record::encode(**found));
  }
  co_return found;
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

// The checksums and the data of an object stand side by side: one read brings both, up to the last
// block wanted.
struct VolumeReader::SmallRead {
  SmallRead(const record::Version& version, ByteRange wanted)
      : range(wanted), sums_bytes(record::block_count(version.size_bytes) * 4) {
    const ByteRange blocks = widen(range, version.size_bytes);
    length = sums_bytes + blocks.offset + blocks.length;
    memory = std::make_shared_for_overwrite<std::byte[]>(length);
  }
  MutableBytes target() const { return {memory.get(), length}; }

  ByteRange range;
  std::size_t sums_bytes;
  std::size_t length = 0;
  std::shared_ptr<std::byte[]> memory;
};

Result<Content> VolumeReader::try_read_small(const record::Version& version, ByteRange range) {
  const auto& place = std::get<record::SegmentPlace>(version.place);
  let_go_of_removed();
  const auto file = segments_.find(place.segment.value());
  if (file == segments_.end()) return fail(Errc::would_block);
  const SmallRead read(version, range);
  LEAT_TRY(const std::size_t got, file->second->try_read_at(place.offset, read.target()));
  return verify(read, place, got);
}

rt::Task<Content> VolumeReader::read_small(const record::Version& version, ByteRange range) {
  const auto& place = std::get<record::SegmentPlace>(version.place);
  LEAT_CO_TRY(const auto file, co_await open_segment(place.segment));
  const SmallRead read(version, range);
  auto got = file->try_read_at(place.offset, read.target());
  if (!got && got.error().code() == Errc::would_block) {
    got = co_await kit_.file_io.read_at(*file, place.offset, read.target());
  }
  if (!got) co_return fail(got.error());
  co_return verify(read, place, *got);
}

Result<Content> VolumeReader::verify(const SmallRead& read, const record::SegmentPlace& place,
                                     std::size_t got) const {
  const Bytes bytes = read.target();
  const std::string_view sums = as_text(bytes.first(read.sums_bytes));
  const bool is_bound = got == bytes.size() && hash::crc32c(as_bytes(sums)) == place.sums_crc;
  const Status verified = is_bound ? record::verify_blocks(sums, bytes.subspan(read.sums_bytes))
                                   : fail(Errc::corrupt, "the checksums are damaged");
  if (!verified) {
    return fail(Errc::corrupt,
                fmt::format("segment {:016x} of {} at offset {}: {}", place.segment.value(),
                            volume_.folders().root(), place.offset, verified.error().detail()));
  }
  return Content{.owner = read.memory,
                 .bytes = bytes.subspan(read.sums_bytes + read.range.offset, read.range.length)};
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
  co_return std::make_unique<FilesSource>(kit_, volume_.folders(), std::move(parts));
}

rt::Task<std::vector<ObjectFilePtr>> VolumeReader::open_apart(const record::Version& version) {
  io::Disk& disk = volume_.disk();
  const Folders& folders = volume_.folders();
  const record::DiskId& id = volume_.identity().disk;
  using Files = std::vector<ObjectFilePtr>;
  auto opened = kit_.pool.run<Files>([&disk, &folders, &id, &version]() -> Result<Files> {
    Files files;
    std::uint64_t left = version.size_bytes;
    for (const auto& extent : std::get<std::vector<record::FileExtent>>(version.place)) {
      if (left == 0) break;  // what follows is the appendix
      if (extent.size_bytes > left) return fail(Errc::corrupt, "its files are too long");
      LEAT_TRY(auto file, open_object_file(disk, folders, id, extent));
      left -= extent.size_bytes;
      files.push_back(std::move(file));
    }
    return files;
  });
  co_return co_await std::move(opened);
}

rt::Task<void> VolumeReader::explain(const record::ObjectKey& object,
                                     const record::Version& version, const Error& error) {
  if (error.code() != Errc::not_found) co_return fail(said_by_disk(error));
  const index::Index& index = volume_.index();
  auto looked =
      kit_.pool.run<bool>([&index, &object, &version] { return index.is_held(object, version); });
  const auto is_held = co_await std::move(looked);
  if (!is_held) co_return fail(is_held.error());
  if (!*is_held) co_return fail(error);
  co_return fail(Errc::corrupt, fmt::format("its bytes are lost: {}", error.detail()));
}

void VolumeReader::let_go_of_removed() {
  if (removals_ == volume_.removals()) return;
  removals_ = volume_.removals();
  let_go();
  if (kit_.pins != nullptr) kit_.pins->let_go_of_changed();
}

void VolumeReader::let_go() {
  segments_.clear();
  files_.clear();
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

// A file that was read from end to end, or as much of it in parts, is in the page cache now: the
// time to pin it.
void FilesSource::finish(const FilePart& part) {
  reading_.reset();
  if (part.pin || kit_.pins == nullptr) return;
  const record::FileTail& tail = part.file->tail;
  const std::uint64_t read_bytes = widen(part.range, tail.data_bytes).length;
  if (!kit_.pins->wants_after(tail.file, tail.data_bytes, read_bytes)) return;
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
                   fmt::format("{}, from block {}: {}", folders_.file(part.file->tail.file), block_,
                               verified.error().detail()));
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
