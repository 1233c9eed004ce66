#include "engine/audit.h"

#include <fmt/format.h>

#include "codec/codec.h"
#include "record/object_file.h"

namespace leat::model {
namespace {

using record::BucketId;
using record::FileId;

record::ObjectKey sorted_object(std::string_view entry) {
  codec::Decoder in(entry.substr(1));
  const BucketId bucket(in.u32_sorted());
  return {.bucket = bucket, .key = in.text_sorted()};
}

class Reader {
 public:
  Reader(const kv::Kv& kv, const index::Index& index) : kv_(kv), index_(index) {}

  Result<Holdings> run() {
    kv::Cursor cursor = kv_.cursor();
    for (cursor.seek(""); cursor.is_valid(); cursor.next()) {
      LEAT_DO(take(cursor.key(), cursor.value()));
    }
    LEAT_DO(cursor.status());
    for (const record::UploadId upload : parts_of_) {
      if (!uploads_.contains(upload)) problem("parts of upload {} but no upload", upload.value());
    }
    if (dues_ != trashed_) problem("{} entries are due, {} are in the trash", dues_, trashed_);
    return std::move(all_);
  }

 private:
  template <class... Values>
  void problem(fmt::format_string<Values&...> text, Values... values) {
    all_.problems.push_back(fmt::format(text, values...));
  }

  Status take(std::string_view entry, std::string_view value) {
    switch (entry.front()) {
      case 'o': return take_object(entry, value);
      case 'v': return take_trash(sorted_object(entry));
      case 't': ++dues_; return check_due(entry);
      case 'u': return take_upload(value);
      case 'p': parts_of_.emplace(index::number_in(entry.substr(0, 9))); return {};
      case 'b': return take_bucket(value);
      case 'a':
      case 's':
      case 'm': return {};  // compared through the Index
      case 'f': all_.owned_files.emplace(index::number_in(entry)); return {};
      case 'g': all_.garbage.emplace(index::number_in(entry)); return {};
      default: problem("an entry of the unknown kind {}", entry.front()); return {};
    }
  }

  // Counts a version's bytes and files as needed.
  void need(const record::Version& version) {
    if (const auto* place = std::get_if<record::SegmentPlace>(&version.place)) {
      all_.live_bytes[place->segment] += index::segment_bytes(version);
      return;
    }
    for (const auto& extent : std::get<std::vector<record::FileExtent>>(version.place)) {
      if (!all_.named_files.emplace(extent.file, extent.size_bytes).second) {
        problem("file {:016x} is named twice", extent.file.value());
      }
    }
  }

  Status take_object(std::string_view entry, std::string_view value) {
    const record::ObjectKey object{
        .bucket = BucketId(static_cast<std::uint32_t>(index::number_in(entry.substr(0, 5)))),
        .key = std::string(index::object_name(entry))};
    LEAT_TRY(auto version, record::decode_version(value));
    need(version);
    index::Counts& counts = all_.counts[object.bucket];
    ++counts.objects;
    counts.bytes += version.size_bytes;
    all_.keys[object].current = std::move(version);
    return {};
  }

  Status take_trash(const record::ObjectKey& object) {
    Seen& seen = all_.keys[object];
    if (!seen.trash.empty()) return {};  // all of a key are taken at once
    LEAT_TRY(seen.trash, index_.find_trash(object));
    index::Counts& counts = all_.counts[object.bucket];
    for (const index::Trashed& one : seen.trash) {
      need(one.version);
      if (one.is_kept()) {
        ++counts.kept_versions;
        counts.kept_bytes += one.version.size_bytes;
        continue;
      }
      ++trashed_;
      ++counts.trashed_objects;
      counts.trashed_bytes += one.version.size_bytes;
    }
    return {};
  }

  Status check_due(std::string_view entry) {
    LEAT_TRY(const auto due, index::decode_due(entry));
    LEAT_TRY(const auto trash, index_.find_trash(due.object));
    for (const index::Trashed& one : trash) {
      if (one.version.id == due.version && one.until_ms == due.until_ms) return {};
    }
    problem("version {} is due but not in the trash", due.version.value());
    return {};
  }

  Status take_upload(std::string_view value) {
    LEAT_TRY(auto upload, record::decode_upload(value));
    LEAT_TRY(auto parts, index_.find_parts(upload.id));
    for (const record::Part& part : parts)
      need(part.content);
    uploads_.insert(upload.id);
    SeenUpload& seen = all_.keys[upload.object].uploads[upload.id.value()];
    seen = {.upload = std::move(upload), .parts = std::move(parts)};
    return {};
  }

  Status take_bucket(std::string_view value) {
    LEAT_TRY(auto bucket, record::decode_bucket(value));
    const auto known = index_.buckets().find(bucket.id);
    if (known == index_.buckets().end() || known->second != bucket) {
      problem("bucket {} is another in memory", bucket.id.value());
    }
    all_.keys[{.bucket = bucket.id, .key = ""}].bucket = std::move(bucket);
    return {};
  }

  const kv::Kv& kv_;
  const index::Index& index_;
  Holdings all_;
  std::set<record::UploadId> uploads_;
  std::set<record::UploadId> parts_of_;
  std::size_t dues_ = 0;
  std::size_t trashed_ = 0;
};

}  // namespace

Result<Holdings> read_holdings(const kv::Kv& kv, const index::Index& index) {
  return Reader(kv, index).run();
}

std::vector<std::string> audit(const Holdings& holdings, const index::Index& index) {
  std::vector<std::string> problems = holdings.problems;
  for (std::uint32_t number = 0; number < 8; ++number) {
    const BucketId bucket(number);
    const auto found = holdings.counts.find(bucket);
    const index::Counts counted = found == holdings.counts.end() ? index::Counts{} : found->second;
    const index::Counts said = index.counts(bucket);
    if (said == counted) continue;
    problems.push_back(fmt::format(
        "bucket {} counts {} objects, {} bytes, trash {}, {}; there are {}, {}, {}, {}", number,
        said.objects, said.bytes, said.trashed_objects, said.trashed_bytes, counted.objects,
        counted.bytes, counted.trashed_objects, counted.trashed_bytes));
  }
  auto live = index.live_bytes();
  for (const auto& [segment, bytes] : holdings.live_bytes) {
    if (live[segment] != bytes) {
      problems.push_back(fmt::format("segment {} counts {} live bytes, there are {}",
                                     segment.value(), live[segment], bytes));
    }
    live.erase(segment);
  }
  for (const auto& [segment, bytes] : live) {
    if (bytes != 0) {
      problems.push_back(
          fmt::format("segment {} counts {} live bytes, there are none", segment.value(), bytes));
    }
  }
  for (const auto& [file, size_bytes] : holdings.named_files) {
    if (!holdings.owned_files.contains(file)) {
      problems.push_back(fmt::format("file {:016x} has an owner the index forgot", file.value()));
    }
  }
  if (holdings.owned_files.size() > holdings.named_files.size()) {
    problems.push_back(fmt::format("{} files are owned, {} are named", holdings.owned_files.size(),
                                   holdings.named_files.size()));
  }
  for (const FileId file : holdings.garbage) {
    if (holdings.owned_files.contains(file)) {
      problems.push_back(fmt::format("file {:016x} is owned and garbage", file.value()));
    }
  }
  return problems;
}

std::vector<std::string> audit_files(const Holdings& holdings, io::Disk& disk,
                                     const volume::Folders& folders) {
  std::vector<std::string> problems;
  for (const auto& [file, size_bytes] : holdings.named_files) {
    const auto info = disk.info(folders.file(file));
    if (!info) {
      problems.push_back(info.error().message());
    } else if (info->size_bytes < size_bytes + record::kFileTailBytes) {
      problems.push_back(fmt::format("file {:016x} has {} bytes", file.value(), info->size_bytes));
    }
  }
  return problems;
}

}  // namespace leat::model
