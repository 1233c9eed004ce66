#include "golden/golden_disk.h"

#include "record/frame.h"
#include "record/identity.h"
#include "record/object_file.h"

namespace leat::golden {
namespace {

using namespace leat::record;

constexpr std::int64_t kThenMs = 1'763'250'000'000;
constexpr BucketId kBucket(7);
constexpr FileId kFilmFile(0x0123'4567'89ab'cdef);
constexpr FileId kPartFile(0xfedc'ba98'7654'3210);
constexpr UploadId kUpload(0x1122'3344'5566'7788);

DiskId id_from(unsigned first) {
  DiskId id{};
  for (std::size_t i = 0; i < id.size(); ++i)
    id[i] = static_cast<std::byte>(first + i);
  return id;
}

Version version(std::uint64_t sequence, std::uint64_t size_bytes, Place place) {
  return {.id = VersionId(sequence),
          .sequence = Sequence(sequence),
          .size_bytes = size_bytes,
          .modified_ms = kThenMs + static_cast<std::int64_t>(sequence),
          .etag = "cafe" + std::to_string(1000 + sequence),
          .attributes = {{.name = "content-type", .value = "text/plain"}},
          .place = std::move(place)};
}

// A segment that grows batch by batch, each written when the one before it was durable.
class Segment {
 public:
  explicit Segment(const Site& site) : site_(site) {
    bytes_ = encode(SegmentHeader{.site = site, .created_ms = kThenMs});
  }

  struct Step {
    Change change;
    std::string_view data = "";
  };
  void batch(std::vector<Step> steps) {
    BatchBuilder builder(site_, bytes_.size(), bytes_.size());
    for (Step& step : steps) {
      std::vector<Bytes> pieces;
      if (!step.data.empty()) pieces.push_back(as_bytes(step.data));
      const SummedData data = sum_blocks(std::move(pieces));
      builder.add(Sequence(++sequence_), step.change, data, /*is_moved=*/false);
    }
    bytes_ += as_text(builder.finish());
  }

  const std::string& bytes() const { return bytes_; }

 private:
  Site site_;
  std::string bytes_;
  std::uint64_t sequence_ = 0;
};

std::string make_segment(const DiskId& disk) {
  const auto key = [](std::string name) { return ObjectKey{kBucket, std::move(name)}; };
  const std::string small = kSmallData;
  const std::string old = "old";
  const Bucket bucket{.id = kBucket,
                      .name = "photos",
                      .created_ms = kThenMs,
                      .durability = Durability::sync,
                      .undo_window_ms = 3'600'000,
                      .properties = {}};
  const std::vector<FileExtent> film = {{.file = kFilmFile, .size_bytes = large_data().size()}};
  const std::vector<FileExtent> part = {{.file = kPartFile, .size_bytes = 8}};
  const Upload upload{
      .id = kUpload, .object = key("next"), .begun_ms = kThenMs + 6, .attributes = {}};
  Segment segment({.disk = disk, .segment = SegmentId(1)});
  segment.batch({{PutBucket{bucket}}});
  segment.batch({{PutObject{key(kSmallKey), version(2, small.size(), SegmentPlace{}), {}}, small},
                 {PutObject{key(kLargeKey), version(3, large_data().size(), film), {}}}});
  segment.batch({{PutObject{key(kTrashedKey), version(4, old.size(), SegmentPlace{}), {}}, old}});
  segment.batch({{RemoveObject{key(kTrashedKey), VersionId(4), kThenMs + 5}},
                 {BeginUpload{upload}},
                 {PutPart{{.upload = kUpload, .number = 1, .content = version(7, 8, part)}}}});
  segment.batch({});
  return segment.bytes();
}

std::string make_file(const DiskId& disk, FileId file, const std::string& data,
                      const std::string& key) {
  const SummedData summed = sum_blocks({as_bytes(data)});
  const FileTail tail{.disk = disk,
                      .file = file,
                      .data_bytes = data.size(),
                      .sums = summed.sums,
                      .owner = {kBucket, key}};
  return data + encode(tail);
}

}  // namespace

std::string large_data() {
  return "Not large, but in a file of its own.";
}

std::map<std::string, std::string> make_disk() {
  const DiskId disk = id_from(0x00);
  const std::string identity =
      encode(Identity{.disk = disk, .node = id_from(0xf0), .created_ms = kThenMs});
  return {
      {"leat-disk", identity},
      {"leat-disk.copy", identity},
      {"segments/0000000000000001.seg", make_segment(disk)},
      {"files/01/0123456789abcdef", make_file(disk, kFilmFile, large_data(), kLargeKey)},
      {"files/fe/fedcba9876543210", make_file(disk, kPartFile, "part one", "next")},
  };
}

}  // namespace leat::golden
