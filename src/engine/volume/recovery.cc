#include "volume/recovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "segment/scan.h"

namespace leat::volume {
namespace {

std::int64_t now_ms(const io::Clock& clock) {
  const auto since = clock.wall_now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

struct FoundIdentity {
  std::optional<record::Identity> identity{};  // nothing when there is neither it nor its copy
  bool is_complete = true;                     // both are there
};

Result<FoundIdentity> read_identity(io::Disk& disk, const Folders& folders) {
  FoundIdentity found;
  std::optional<Error> damage;
  for (const std::string& path : {folders.identity(), folders.identity_copy()}) {
    const auto text = io::read_text(disk, path);
    if (!text && text.error().code() != Errc::not_found) return fail(text.error());
    const Result<record::Identity> identity =
        text ? record::decode_identity(*text) : Result<record::Identity>(fail(text.error()));
    if (identity) {
      if (!found.identity) found.identity = *identity;
      continue;
    }
    found.is_complete = false;
    if (!text) continue;
    // What a later Leat wrote is to be believed; a damaged one has a copy.
    Error error(identity.error().code(), fmt::format("{}: {}", path, identity.error().detail()));
    if (error.code() == Errc::not_implemented) return fail(std::move(error));
    damage.emplace(std::move(error));
  }
  if (!found.identity && damage) return fail(*damage);
  return found;
}

Status make_folders(io::Disk& disk, const Folders& folders) {
  LEAT_DO(disk.make_directories(folders.segments()));
  LEAT_DO(disk.make_directories(folders.files()));
  LEAT_DO(disk.make_directories(folders.incoming()));
  LEAT_DO(disk.make_directories(folders.index()));
  return disk.sync_directory(folders.root());
}

// The identity of a new disk goes in last: a disk without one holds nothing yet.
Status make_identity(io::Disk& disk, const Folders& folders, const record::Identity& identity) {
  LEAT_DO(make_folders(disk, folders));
  const std::string text = record::encode(identity);
  LEAT_DO(io::replace_text(disk, folders.identity_copy(), text));
  LEAT_DO(io::replace_text(disk, folders.identity(), text));
  return disk.sync_directory(folders.root());
}

}  // namespace

Result<std::optional<record::Members>> read_members(io::Disk& disk, const Folders& folders) {
  const auto text = io::read_text(disk, folders.members());
  if (!text && text.error().code() == Errc::not_found) return std::nullopt;
  if (!text) return fail(text.error());
  auto members = record::decode_members(*text);
  // Then it counts as one that was away: nothing is lost by comparing.
  if (!members) return std::nullopt;
  return std::move(*members);
}

Status write_members(io::Disk& disk, const Folders& folders, const record::Members& members) {
  LEAT_DO(io::replace_text(disk, folders.members(), record::encode(members)));
  return disk.sync_directory(folders.root());
}

namespace {

class Replay {
 public:
  Replay(Recovered& into) : into_(into) {}

  // Changes in the order they were written.
  Status apply(const record::Record& record) {
    LEAT_TRY(const index::Before before, into_.index->before(record.change));
    if (record.header.is_moved) {
      into_.index->apply_moved(record.change, before, batch_);
    } else {
      into_.index->apply(record.header.sequence, record.change, before, batch_);
    }
    into_.end.last = std::max(into_.end.last, record.header.sequence);
    ++into_.replayed;
    // The next change may need to see what this one did.
    return write();
  }

  Status finish() {
    into_.index->finish({into_.end.segment, into_.end.offset, into_.end.last}, batch_);
    return write();
  }

 private:
  Status write() {
    LEAT_DO(into_.kv->write(batch_));
    into_.index->written();
    batch_.clear();
    return {};
  }

  Recovered& into_;
  kv::Batch batch_;
};

// The order of changes that have the same sequence; another number for each kind that may.
int replay_rank(const record::Change& change) {
  if (std::holds_alternative<record::EndUpload>(change)) return 0;
  if (std::holds_alternative<record::RemoveObject>(change)) return 1;
  if (std::holds_alternative<record::RestoreObject>(change)) return 2;
  if (std::holds_alternative<record::KeepTrashed>(change)) return 4;
  return 3;
}

// What was being written when the process ended belongs to nobody.
Status empty_incoming(io::Disk& disk, const Folders& folders) {
  LEAT_TRY(const auto names, disk.list(folders.incoming()));
  for (const std::string& name : names) {
    const std::string path = folders.incoming() + '/' + name;
    LEAT_DO(disk.remove(path));
  }
  return {};
}

// The segments from `first` on. A last one without a header never got a change: a crash came
// between making the file and its first bytes.
Result<std::vector<record::SegmentId>> usable_segments(segment::SegmentFolder& folder,
                                                       record::SegmentId first) {
  LEAT_TRY(auto segments, folder.list());
  std::erase_if(segments, [first](record::SegmentId id) { return id < first; });
  if (segments.empty()) return segments;
  const record::SegmentId last = segments.back();
  const auto opened = folder.open(last, io::OpenMode::read);
  if (opened) return segments;
  if (opened.error().code() != Errc::corrupt) return fail(opened.error());
  LEAT_TRY(const std::uint64_t size_bytes, folder.size_bytes(last));
  if (size_bytes > record::kSegmentHeaderBytes) return fail(opened.error());
  LEAT_DO(folder.remove(last));
  segments.pop_back();
  return segments;
}

// From the one that the index reached every segment must be there: they are made one behind the
// other, and compaction removes only older ones, after a flush of the index.
Status check_complete(const std::vector<record::SegmentId>& segments, record::SegmentId first,
                      const Folders& folders) {
  record::SegmentId expected = first;
  for (const record::SegmentId id : segments) {
    if (id != expected) break;
    expected = record::SegmentId(expected.value() + 1);
  }
  if (expected.value() - first.value() == segments.size() && !segments.empty()) return {};
  return fail(Errc::corrupt,
              fmt::format("{} has lost the segment {:016x}", folders.root(), expected.value()));
}

// Whoever wrote the end of the segment may have been killed before it was synced, or after a sync
// that failed: then the kernel has the bytes and the disk may never get them, for a later sync
// passes over pages that the failed one marked as written. So they are written again.
Status write_again(io::File& file, std::uint64_t begin, std::uint64_t end) {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(end - begin, kMiB));
  for (std::uint64_t at = begin; at < end; at += bytes.size()) {
    bytes.resize(std::min<std::uint64_t>(end - at, kMiB));
    LEAT_TRY(const std::size_t got, file.read_at(at, bytes));
    if (got < bytes.size()) return fail(Errc::io, "a segment became shorter while it was read");
    LEAT_DO(file.write_all_at(at, bytes));
  }
  return {};
}

// Says that all of the segment is on the disk: damage at its end is then no longer taken for what a
// power cut left, also by a rebuild, which does not know how far the index had come. Without room
// it is left to the next batch.
Status write_marker(Recovered& into) {
  record::BatchBuilder builder(into.segments->site(into.end.segment), into.end.offset,
                               into.end.offset);
  const Bytes marker = builder.finish();
  const Status written = into.active->write_all_at(into.end.offset, marker);
  if (!written && written.error().code() == Errc::no_space) {
    return into.active->truncate(into.end.offset);
  }
  if (!written) return fail(written.error());
  LEAT_DO(into.active->sync_data());
  into.end.offset += marker.size();
  return {};
}

// From here on everything that was recovered is on the disk.
Status go_on_with(Recovered& into, record::SegmentId segment) {
  LEAT_TRY(into.active, into.segments->open(segment, io::OpenMode::read_write));
  if (into.torn_bytes > 0) LEAT_DO(into.active->truncate(into.end.offset));
  // Before its first mark not even the segment's own header is sure to be on the disk.
  const bool has_mark = into.durable_offset > record::kSegmentHeaderBytes;
  LEAT_DO(write_again(*into.active, has_mark ? into.durable_offset : 0, into.end.offset));
  LEAT_DO(into.active->sync_data());
  LEAT_DO(into.segments->sync_names());
  return write_marker(into);
}

Status start_first_segment(Recovered& into, const io::Clock& clock) {
  into.end.segment = record::SegmentId(1);
  into.end.offset = record::kSegmentHeaderBytes;
  LEAT_TRY(into.active, into.segments->create(into.end.segment, now_ms(clock)));
  return {};
}

Status replay_segments(Recovered& into, const std::vector<record::SegmentId>& segments,
                       const std::optional<index::Applied>& applied) {
  Replay replay(into);
  for (const record::SegmentId id : segments) {
    LEAT_TRY(const auto file, into.segments->open(id, io::OpenMode::read));
    segment::ScanRange range;
    if (applied && id == applied->segment) range.begin = applied->offset;
    range.is_sealed = id != segments.back();
    const auto visit = [&replay](const record::Record& record) { return replay.apply(record); };
    LEAT_TRY(const auto end, segment::scan(*file, into.segments->site(id), range, visit));
    into.end.segment = id;
    into.end.offset = end.offset;
    into.torn_bytes = end.torn_bytes;
    into.durable_offset = end.durable_offset;
  }
  return replay.finish();
}

Result<Recovered> open_parts(const RecoveryTools& tools, const Folders& folders,
                             const record::Identity& identity, const VolumeOptions& options) {
  Recovered into;
  into.identity = identity;
  into.segments =
      std::make_unique<segment::SegmentFolder>(tools.disk, folders.segments(), identity.disk);
  const kv::KvOptions kv_options{
      .cache_bytes = options.index_cache_bytes, .memory_bytes = 256 * kMiB, .quiet = options.quiet};
  LEAT_TRY(into.kv, kv::Kv::open(tools.disk, folders.index(), kv_options));
  into.index = std::make_unique<index::Index>(*into.kv);
  return into;
}

}  // namespace

Result<record::Identity> identify(const RecoveryTools& tools, const Folders& folders,
                                  const std::optional<record::DiskId>& node) {
  LEAT_TRY(const FoundIdentity found, read_identity(tools.disk, folders));
  if (found.identity) {
    const record::Identity& identity = *found.identity;
    if (node && identity.node != *node) {
      return fail(Errc::conflict,
                  fmt::format("{} belongs to another node ({}); this one is {}", folders.root(),
                              record::to_hex(identity.node), record::to_hex(*node)));
    }
    if (!found.is_complete) LEAT_DO(make_identity(tools.disk, folders, identity));
    return identity;
  }
  const auto segments = tools.disk.list(folders.segments());
  if (segments && !segments->empty()) {
    return fail(Errc::corrupt, fmt::format("{} holds data, but its leat-disk is lost; put the file "
                                           "back, or see leat fsck --help",
                                           folders.root()));
  }
  record::Identity identity;
  tools.rng.fill(identity.disk);
  if (node) {
    identity.node = *node;
  } else {
    tools.rng.fill(identity.node);
  }
  identity.created_ms = now_ms(tools.clock);
  LEAT_DO(tools.disk.make_durable_directories(folders.root()));
  LEAT_DO(make_identity(tools.disk, folders, identity));
  return identity;
}

Result<Recovered> recover(const RecoveryTools& tools, const Folders& folders,
                          const record::Identity& identity, const VolumeOptions& options) {
  LEAT_TRY(Recovered into, open_parts(tools, folders, identity, options));
  LEAT_DO(into.index->load());
  LEAT_TRY(const auto applied, into.index->applied());
  const record::SegmentId first = applied ? applied->segment : record::SegmentId(1);
  LEAT_TRY(const auto segments, usable_segments(*into.segments, first));
  if (applied) into.end = {applied->segment, applied->offset, applied->last};
  if (segments.empty() && !applied) {
    LEAT_DO(start_first_segment(into, tools.clock));
  } else {
    LEAT_DO(check_complete(segments, first, folders));
    LEAT_DO(replay_segments(into, segments, applied));
    LEAT_DO(go_on_with(into, segments.back()));
  }
  LEAT_DO(empty_incoming(tools.disk, folders));
  return into;
}

Result<Recovered> rebuild(const RecoveryTools& tools, const Folders& folders,
                          const record::Identity& identity, const VolumeOptions& options,
                          Loss loss) {
  LEAT_TRY(Recovered into, open_parts(tools, folders, identity, options));
  LEAT_TRY(const auto segments, usable_segments(*into.segments, record::SegmentId(0)));
  if (segments.empty()) {
    LEAT_DO(start_first_segment(into, tools.clock));
    return into;
  }
  // Compaction writes old changes again behind younger ones, so they are sorted first. Of the same
  // change the one written last counts: the other may lie in a segment about to go. What compaction
  // made of one change are several of the same sequence: what it ended comes before what it made.
  struct Found {
    record::Sequence sequence;
    int rank;
    record::SegmentId segment;
    std::uint64_t offset;
  };
  std::vector<Found> all;
  for (const record::SegmentId id : segments) {
    LEAT_TRY(const auto file, into.segments->open(id, io::OpenMode::read));
    segment::ScanRange range;
    range.is_sealed = id != segments.back();
    range.pass_over_damage = loss == Loss::accepted;
    const auto note = [&all, id](const record::Record& record) -> Status {
      all.push_back({record.header.sequence, replay_rank(record.change), id, record.offset});
      return {};
    };
    LEAT_TRY(const auto end, segment::scan(*file, into.segments->site(id), range, note));
    into.end.segment = id;
    into.end.offset = end.offset;
    into.torn_bytes = end.torn_bytes;
    into.damaged_bytes += end.damaged_bytes;
    into.durable_offset = end.durable_offset;
  }
  std::ranges::sort(all, [](const Found& a, const Found& b) {
    return std::tuple(a.sequence, a.rank, b.segment, b.offset) <
           std::tuple(b.sequence, b.rank, a.segment, a.offset);
  });
  const auto same = std::ranges::unique(
      all, {}, [](const Found& found) { return std::pair(found.sequence, found.rank); });
  all.erase(same.begin(), same.end());

  Replay replay(into);
  std::unique_ptr<io::File> file;
  std::optional<record::SegmentId> opened;
  for (const Found& found : all) {
    if (opened != found.segment) {
      LEAT_TRY(file, into.segments->open(found.segment, io::OpenMode::read));
      opened = found.segment;
    }
    LEAT_TRY(auto record,
             segment::read_record(*file, into.segments->site(found.segment), found.offset));
    record.header.is_moved = false;
    LEAT_DO(replay.apply(record));
  }
  LEAT_DO(replay.finish());
  if (loss == Loss::accepted) {
    // Before the new index counts: with it the next start removes what nobody names.
    LEAT_TRY(into.lost, put_orphans_aside(tools.disk, folders, into.identity.disk, *into.index));
  }
  LEAT_DO(into.kv->flush());
  LEAT_DO(go_on_with(into, segments.back()));
  LEAT_DO(empty_incoming(tools.disk, folders));
  return into;
}

}  // namespace leat::volume
