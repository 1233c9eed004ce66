#include "fsck/fsck.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "segment/scan.h"
#include "volume/reader.h"

namespace leat::fsck {
namespace {

using index::Counts;
using record::Version;

constexpr std::uint64_t kTellEvery = 1000;
constexpr std::size_t kReadBytes = kMiB;

class Checker {
 public:
  Checker(const volume::RecoveryTools& tools, const volume::Folders& folders,
          const record::Identity& identity, const Tell& tell)
      : disk_(tools.disk),
        folders_(folders),
        identity_(identity),
        segments_(tools.disk, folders.segments(), identity.disk),
        tell_(tell) {}

  Result<Report> run() {
    LEAT_DO(check_segments());
    auto kv = kv::Kv::open(disk_, folders_.index(), {.quiet = true});
    if (!kv) {
      note(folders_.index(), kv.error());
      return std::move(report_);
    }
    if (const Status sound = (*kv)->verify(); !sound) note(folders_.index(), sound.error());
    index::Index index(**kv);
    if (const Status loaded = index.load(); !loaded) note(folders_.index(), loaded.error());
    check_applied(index);
    LEAT_DO(check_versions(index));
    check_counts(index);
    LEAT_DO(check_files());
    tell_(report_);
    return std::move(report_);
  }

 private:
  void note(std::string where, const Error& error) {
    report_.findings.push_back({std::move(where), error.message()});
  }
  void note(std::string where, std::string what) {
    report_.findings.push_back({std::move(where), std::move(what)});
  }
  void step() {
    if (++steps_ % kTellEvery == 0) tell_(report_);
  }

  // Every record of every segment. The data of records that the index still needs is read with the
  // versions; what is dead may be damaged without harm.
  Status check_segments() {
    LEAT_TRY(const auto ids, segments_.list());
    for (const record::SegmentId id : ids) {
      ++report_.segments;
      const std::string where = fmt::format("{}/{:016x}.seg", folders_.segments(), id.value());
      const auto file = segments_.open(id, io::OpenMode::read);
      if (!file) {
        note(where, file.error());
        continue;
      }
      const auto count = [this](const record::Record& record) -> Status {
        ++report_.records;
        last_ = std::max(last_, record.header.sequence);
        step();
        return {};
      };
      const segment::ScanRange range{.is_sealed = id != ids.back(), .pass_over_damage = true};
      const auto end = segment::scan(**file, segments_.site(id), range, count);
      if (!end) {
        note(where, end.error());
      } else if (end->damaged_bytes > 0) {
        note(where, fmt::format("{} bytes are damaged", end->damaged_bytes));
      }
    }
    return {};
  }

  void check_applied(const index::Index& index) {
    const auto applied = index.applied();
    if (!applied) return note(folders_.index(), applied.error());
    const record::Sequence known = *applied ? (*applied)->last : record::Sequence();
    if (last_ > known) report_.pending = last_.value() - known.value();
  }

  Status check_versions(const index::Index& index) {
    const auto look = [this](const record::ObjectKey& object, const Version& version) -> Status {
      ++report_.versions;
      report_.bytes += version.size_bytes;
      const Status sound = check_version(version);
      if (!sound) note(name_of(object), sound.error());
      step();
      return {};
    };
    std::string after;
    do {
      auto last = index.visit_versions(after, kTellEvery, look);
      if (!last) {
        note(folders_.index(), last.error());
        return {};
      }
      after = std::move(*last);
    } while (!after.empty());
    return {};
  }

  Status check_version(const Version& version) {
    if (const auto* place = std::get_if<record::SegmentPlace>(&version.place)) {
      return check_small(version, *place);
    }
    for (const record::FileExtent& extent :
         std::get<std::vector<record::FileExtent>>(version.place)) {
      if (!named_.insert(extent.file.value()).second) {
        return fail(Errc::corrupt, fmt::format("file {:016x} has two owners", extent.file.value()));
      }
      LEAT_DO(check_file(extent));
    }
    return {};
  }

  Status check_small(const Version& version, const record::SegmentPlace& place) {
    if (opened_ != place.segment || !open_segment_) {
      LEAT_TRY(open_segment_, segments_.open(place.segment, io::OpenMode::read));
      opened_ = place.segment;
    }
    const std::uint64_t sums_bytes = record::block_count(version.size_bytes) * 4;
    buffer_.resize(sums_bytes + version.size_bytes);
    LEAT_TRY(const std::size_t got, open_segment_->read_at(place.offset, buffer_));
    if (got < buffer_.size()) return fail(Errc::corrupt, "the segment is too short");
    const record::SummedData summed{.pieces = {},
                                    .sums = std::string(as_text(Bytes(buffer_).first(sums_bytes)))};
    if (summed.sums_crc() != place.sums_crc) return fail(Errc::corrupt, "checksums are damaged");
    return record::verify_blocks(summed.sums, Bytes(buffer_).subspan(sums_bytes));
  }

  Status check_file(record::FileExtent extent) {
    LEAT_TRY(const auto file, volume::open_object_file(disk_, folders_, identity_.disk, extent));
    buffer_.resize(kReadBytes);
    for (std::uint64_t at = 0; at < extent.size_bytes;) {
      const std::uint64_t wanted = std::min<std::uint64_t>(kReadBytes, extent.size_bytes - at);
      LEAT_TRY(const std::size_t got, file->file->read_at(at, MutableBytes(buffer_).first(wanted)));
      if (got < wanted) return fail(Errc::corrupt, "the file is too short");
      const std::string_view sums =
          std::string_view(file->tail.sums).substr(at / record::kBlockBytes * 4);
      LEAT_DO(record::verify_blocks(sums, Bytes(buffer_).first(wanted)));
      at += wanted;
    }
    return {};
  }

  void check_counts(const index::Index& index) {
    for (const auto& [id, bucket] : index.buckets()) {
      Counts counted;
      index::ListRequest request{.bucket = id};
      for (;;) {
        const auto page = index.list(request);
        if (!page) return note(folders_.index(), page.error());
        for (const index::ListItem& item : page->items) {
          ++counted.objects;
          counted.bytes += item.version->size_bytes;
        }
        if (!page->is_truncated) break;
        request.after = page->items.back().name;
      }
      report_.objects += counted.objects;
      const Counts said = index.counts(id);
      if (said.objects == counted.objects && said.bytes == counted.bytes) continue;
      note(fmt::format("bucket {}", bucket.name),
           fmt::format("counts {} objects and {} bytes, holds {} and {}", said.objects, said.bytes,
                       counted.objects, counted.bytes));
    }
  }

  Status check_files() {
    LEAT_TRY(const auto shelves, disk_.list(folders_.files()));
    for (const std::string& shelf : shelves) {
      LEAT_TRY(const auto names, disk_.list(folders_.files() + '/' + shelf));
      for (const std::string& name : names) {
        ++report_.files;
        if (!named_.contains(std::strtoull(name.c_str(), nullptr, 16))) ++report_.orphans;
      }
    }
    return {};
  }

  io::Disk& disk_;
  const volume::Folders& folders_;
  const record::Identity& identity_;
  segment::SegmentFolder segments_;
  const Tell& tell_;
  record::Sequence last_{};  // of all changes in the segments
  Report report_;
  std::uint64_t steps_ = 0;
  std::set<std::uint64_t> named_;
  std::vector<std::byte> buffer_;
  record::SegmentId opened_{};
  std::unique_ptr<io::File> open_segment_;
};

}  // namespace

std::string name_of(const record::ObjectKey& object) {
  std::string key;
  for (const char c : object.key) {
    const auto byte = static_cast<unsigned char>(c);
    key += byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return fmt::format("bucket {} key {}", object.bucket.value(), key);
}

Result<Report> check(const volume::RecoveryTools& tools, const volume::Folders& folders,
                     const Tell& tell) {
  LEAT_TRY(const auto identity, volume::identify(tools, folders, std::nullopt));
  Checker checker(tools, folders, identity, tell);
  return checker.run();
}

Result<Rebuilt> rebuild(const volume::RecoveryTools& tools, const volume::Folders& folders,
                        volume::Loss loss) {
  LEAT_TRY(const auto identity, volume::identify(tools, folders, std::nullopt));
  Rebuilt rebuilt;
  const auto names = tools.disk.list(folders.index());
  if (names && !names->empty()) {
    for (int number = 1; rebuilt.old_index.empty(); ++number) {
      const std::string aside = fmt::format("{}.old{}", folders.index(), number);
      if (!tools.disk.info(aside)) rebuilt.old_index = aside;
    }
    LEAT_DO(tools.disk.rename(folders.index(), rebuilt.old_index));
  }
  LEAT_DO(tools.disk.make_durable_directories(folders.index()));
  LEAT_DO(tools.disk.sync_directory(folders.root()));
  volume::VolumeOptions options;
  options.quiet = true;
  LEAT_TRY(auto recovered, volume::rebuild(tools, folders, identity, options, loss));
  rebuilt.changes = recovered.replayed;
  rebuilt.damaged_bytes = recovered.damaged_bytes;
  rebuilt.lost = std::move(recovered.lost);
  for (const auto& [id, bucket] : recovered.index->buckets())
    rebuilt.objects += recovered.index->counts(id).objects;
  return rebuilt;
}

}  // namespace leat::fsck
