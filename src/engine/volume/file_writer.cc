#include "volume/file_writer.h"

#include <optional>

#include "hash/crc32c.h"
#include "io/write_behind.h"
#include "record/object_file.h"

namespace leat::volume {
namespace {

// How many full files may still be on their way to the disk while the next one is filled.
constexpr std::size_t kSealingMax = 2;

// The folders that have to be synced for a file's new place to be durable.
using Places = std::vector<std::string>;

// Gives a finished file its place. The shelf is made when it is first used.
Status give_place(io::Disk& disk, const Folders& folders, record::FileId file) {
  const std::string from = folders.incoming_file(file);
  Status renamed = disk.rename(from, folders.file(file));
  if (renamed || renamed.error().code() != Errc::not_found) return renamed;
  LEAT_DO(disk.make_directories(folders.file_folder(file)));
  return disk.rename(from, folders.file(file));
}

// Whoever made the shelf may not have synced its name yet, or not have come to it at all.
Places places_of(const Volume& volume, record::FileId file) {
  Places places{volume.folders().file_folder(file)};
  if (!volume.is_shelf_durable(file)) places.push_back(volume.folders().files());
  return places;
}

Status sync_all(io::Disk& disk, const Places& places) {
  for (const std::string& place : places)
    LEAT_DO(disk.sync_directory(place));
  return {};
}

// The disk is told that it has failed. Gives that as the error.
rt::Task<void> fail_disk(Volume& volume, rt::Shard& here, const Error& error,
                         std::string_view what) {
  auto told = rt::ask<void>(here, volume.home(),
                            [&volume, &error, what] { return volume.fail_disk(error, what); });
  co_return co_await std::move(told);
}

// A failed sync is the end of the disk, whoever asked for it. One that was not tried is no failure:
// the bytes are where they were, and no change names them yet. Ensures: an error.
rt::Task<void> end_by_sync(Volume& volume, rt::Shard& here, const Error& error) {
  if (error.code() == Errc::busy) co_return fail(error);
  co_return co_await fail_disk(volume, here, error, "a sync has failed");
}

// Something else did not come to its end. A disk that does not let its own files be written, as
// after the kernel has made it read-only, takes no more data; the client has done nothing that
// would be forbidden. A failing write is noted. Ensures: an error.
rt::Task<void> give_up_write(Volume& volume, rt::Shard& here, const record::ObjectKey& object,
                             const Error& error) {
  if (error.code() == Errc::io) {
    auto noted = rt::ask<void>(here, volume.home(), [&volume, &object, &error] {
      return volume.note_unwritten(object, error);
    });
    LEAT_CO_DO(co_await std::move(noted));
  }
  if (error.code() != Errc::denied) co_return fail(error);
  co_return co_await fail_disk(volume, here, error, "a file cannot be written");
}

}  // namespace

struct FileWriter::Piece {
  record::FileId id{};
  std::shared_ptr<io::File> file{};
  std::unique_ptr<io::WriteBehind> writer{};
  record::ObjectKey owner{};
  std::string sums{};
  std::uint64_t size_bytes = 0;
  std::optional<Status> outcome{};            // once it is sealed
  std::optional<rt::Resume<void>> waiting{};  // for the outcome
};

FileWriter::FileWriter(Volume& volume, ShardKit kit, record::ObjectKey owner, Keep keep)
    : volume_(volume), kit_(kit), owner_(std::move(owner)), keep_(std::move(keep)) {}

FileWriter::~FileWriter() {
  if (finished_) return;
  io::Disk& disk = volume_.disk();
  for (const PiecePtr& piece : pieces_) {
    // The removal runs behind the writes of the piece, which may still be in flight; if it finds no
    // room in the queue the next start or the orphan collection removes the file. The volume may be
    // gone by then.
    static_cast<void>(kit_.pool.submit([&disk, folders = volume_.folders(), piece] {
      if (!disk.remove(folders.incoming_file(piece->id))) {
        static_cast<void>(disk.remove(folders.file(piece->id)));
      }
    }));
  }
}

rt::Task<FileWriter::PiecePtr> FileWriter::open_piece() {
  auto piece = std::make_shared<Piece>();
  piece->id = volume_.new_file(kit_.rng);
  piece->owner = owner_;
  io::Disk& disk = volume_.disk();
  std::string path = volume_.folders().incoming_file(piece->id);
  auto opened = kit_.pool.run<std::unique_ptr<io::File>>(
      [&disk, p = std::move(path)] { return disk.open(p, io::OpenMode::create_new); });
  auto file = co_await std::move(opened);
  if (!file) {
    const Status why = co_await give_up_write(volume_, kit_.shard, owner_, file.error());
    co_return fail(why.error());
  }
  piece->file = std::move(*file);
  piece->writer =
      std::make_unique<io::WriteBehind>(kit_.shard, kit_.file_io, kit_.buffers, piece->file);
  co_return piece;
}

rt::Task<MutableBytes> FileWriter::next_buffer() {
  if (current_ && current_->size_bytes >= volume_.options().file_max_bytes) {
    seal_current();
    LEAT_CO_DO(co_await wait_sealed(kSealingMax));
  }
  if (!current_) {
    LEAT_CO_TRY(current_, co_await open_piece());
    pieces_.push_back(current_);
  }
  const auto buffer = co_await current_->writer->next_buffer();
  if (!buffer) {
    const Status why = co_await give_up_write(volume_, kit_.shard, owner_, buffer.error());
    co_return fail(why.error());
  }
  buffer_ = *buffer;
  const std::uint64_t room = volume_.options().file_max_bytes - current_->size_bytes;
  buffer_ = buffer_.first(std::min<std::uint64_t>(buffer_.size(), room));
  co_return buffer_;
}

void FileWriter::commit(std::size_t size) {
  const Bytes bytes = Bytes(buffer_).first(size);
  const auto summed = record::sum_blocks({bytes});
  current_->sums += summed.sums;
  if (!in_appendix_) sums_crc_ = hash::crc32c(as_bytes(summed.sums), sums_crc_);
  current_->size_bytes += size;
  current_->writer->commit(size);
}

rt::Task<void> FileWriter::append_appendix(Bytes bytes) {
  if (current_) seal_current();
  in_appendix_ = true;
  while (!bytes.empty()) {
    LEAT_CO_TRY(const MutableBytes room, co_await next_buffer());
    const Bytes step = bytes.first(std::min(bytes.size(), room.size()));
    std::ranges::copy(step, room.begin());
    commit(step.size());
    bytes = bytes.subspan(step.size());
  }
  co_return Status{};
}

void FileWriter::seal_current() {
  const PiecePtr piece = std::exchange(current_, nullptr);
  kit_.shard.spawn(seal(piece, kit_, volume_, keep_), [piece](Status sealed) {
    piece->outcome = std::move(sealed);
    if (piece->waiting) (*std::exchange(piece->waiting, std::nullopt))(Status{});
  });
}

rt::Task<void> FileWriter::seal(PiecePtr piece, ShardKit kit, Volume& volume, Keep /*keep*/) {
  Status written = co_await piece->writer->finish();
  piece->writer.reset();
  const record::FileTail tail{.disk = volume.identity().disk,
                              .file = piece->id,
                              .data_bytes = piece->size_bytes,
                              .sums = piece->sums,
                              .owner = piece->owner};
  const std::string bytes = record::encode(tail);
  const Bytes view = as_bytes(bytes);
  if (written) written = co_await kit.file_io.write_at(*piece->file, piece->size_bytes, view);
  if (!written) co_return co_await give_up_write(volume, kit.shard, piece->owner, written.error());
  const Status synced = co_await kit.file_io.sync_data(*piece->file);
  if (!synced) co_return co_await end_by_sync(volume, kit.shard, synced.error());
  io::Disk& disk = volume.disk();
  const Folders& folders = volume.folders();
  const record::FileId id = piece->id;
  auto moved = kit.pool.run<void>([&disk, &folders, id] { return give_place(disk, folders, id); });
  const Status placed = co_await std::move(moved);
  if (!placed) co_return co_await give_up_write(volume, kit.shard, piece->owner, placed.error());
  const Places places = places_of(volume, id);
  auto named = kit.pool.run<void>([&disk, &places] { return sync_all(disk, places); });
  const Status durable = co_await std::move(named);
  if (!durable) co_return co_await end_by_sync(volume, kit.shard, durable.error());
  volume.note_durable_shelf(id);
  piece->file.reset();
  co_return Status{};
}

rt::Task<void> FileWriter::wait_sealed(std::size_t unfinished_max) {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const PiecePtr piece = pieces_[i];
    if (piece == current_) continue;
    const bool may_wait = pieces_.size() - i <= unfinished_max;
    if (!piece->outcome && may_wait) continue;
    if (!piece->outcome) {
      auto sealed =
          rt::suspend<void>([&piece](rt::Resume<void> r) { piece->waiting = std::move(r); });
      LEAT_CO_DO(co_await std::move(sealed));
    }
    if (!*piece->outcome) co_return fail(piece->outcome->error());
  }
  co_return Status{};
}

rt::Task<std::vector<record::FileExtent>> FileWriter::finish() {
  if (current_) seal_current();
  LEAT_CO_DO(co_await wait_sealed(0));
  finished_ = true;
  std::vector<record::FileExtent> extents;
  for (const PiecePtr& piece : pieces_)
    extents.push_back({.file = piece->id, .size_bytes = piece->size_bytes});
  co_return extents;
}

}  // namespace leat::volume
