#include "record/change.h"

#include "codec/codec.h"

namespace leat::record {
namespace {

using codec::Decoder;
using codec::Encoder;

// put() and take() of one type stand side by side, so that a field cannot be in one alone.

void put(Encoder& out, const ObjectKey& object) {
  out.varint(object.bucket.value());
  out.text(object.key);
}
ObjectKey take_key(Decoder& in) {
  const BucketId bucket(static_cast<std::uint32_t>(in.varint()));
  return {.bucket = bucket, .key = std::string(in.text())};
}

void put(Encoder& out, const std::vector<Attribute>& attributes) {
  out.varint(attributes.size());
  for (const Attribute& attribute : attributes) {
    out.text(attribute.name);
    out.text(attribute.value);
  }
}
std::vector<Attribute> take_attributes(Decoder& in) {
  std::vector<Attribute> attributes;
  for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
    std::string name(in.text());
    attributes.push_back({.name = std::move(name), .value = std::string(in.text())});
  }
  return attributes;
}

// The first byte of a version's place says what kind of version it is, too.
constexpr std::uint8_t kInFiles = 1;
constexpr std::uint8_t kIsMarker = 2;
constexpr std::uint8_t kIsVersioned = 4;

void put_place(Encoder& out, const Version& version) {
  const std::uint8_t kind =
      (version.is_marker ? kIsMarker : 0) | (version.is_versioned ? kIsVersioned : 0);
  if (const auto* segment = std::get_if<SegmentPlace>(&version.place)) {
    out.u8(kind);
    out.varint(segment->segment.value());
    out.varint(segment->offset);
    out.u32(segment->sums_crc);
    return;
  }
  const auto& files = std::get<std::vector<FileExtent>>(version.place);
  out.u8(kind | kInFiles);
  out.varint(files.size());
  for (const FileExtent& extent : files) {
    out.u64(extent.file.value());
    out.varint(extent.size_bytes);
  }
}
void take_place(Decoder& in, Version& version) {
  const std::uint8_t kind = in.u8();
  if (kind > (kInFiles | kIsMarker | kIsVersioned)) in.set_failed();
  version.is_marker = (kind & kIsMarker) != 0;
  version.is_versioned = (kind & kIsVersioned) != 0;
  if ((kind & kInFiles) == 0) {
    const SegmentId segment(in.varint());
    const std::uint64_t offset = in.varint();
    version.place = SegmentPlace{.segment = segment, .offset = offset, .sums_crc = in.u32()};
    return;
  }
  std::vector<FileExtent> files;
  for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
    const FileId file(in.u64());
    files.push_back({.file = file, .size_bytes = in.varint()});
  }
  version.place = std::move(files);
}

// An etag of hexadecimal digits, which most are, takes half the bytes.
constexpr std::uint64_t kEtagIsHex = 1;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

void put_etag(Encoder& out, std::string_view etag) {
  std::string packed;
  for (std::size_t i = 0; i + 1 < etag.size(); i += 2) {
    const int high = hex_digit(etag[i]);
    const int low = hex_digit(etag[i + 1]);
    if (high < 0 || low < 0) break;
    packed.push_back(static_cast<char>(high << 4 | low));
  }
  const bool is_hex = packed.size() * 2 == etag.size();
  out.varint((is_hex ? packed.size() : etag.size()) << 1 | (is_hex ? kEtagIsHex : 0));
  out.raw(is_hex ? std::string_view(packed) : etag);
}
std::string take_etag(Decoder& in) {
  const std::uint64_t head = in.varint();
  const std::string_view bytes = in.raw(head >> 1);
  if ((head & kEtagIsHex) == 0) return std::string(bytes);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string etag;
  for (const char c : bytes) {
    etag.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    etag.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return etag;
}

void put(Encoder& out, const Version& version) {
  out.varint(version.sequence.value());
  // 0 for most: a version is touched once, when it is made.
  out.varint(version.sequence.value() - version.id.value());
  out.varint(version.size_bytes);
  out.varint(static_cast<std::uint64_t>(version.modified_ms));
  put_etag(out, version.etag);
  put(out, version.attributes);
  put_place(out, version);
}
Version take_version(Decoder& in) {
  Version version;
  version.sequence = Sequence(in.varint());
  version.id = VersionId(version.sequence.value() - in.varint());
  version.size_bytes = in.varint();
  version.modified_ms = static_cast<std::int64_t>(in.varint());
  version.etag = take_etag(in);
  version.attributes = take_attributes(in);
  take_place(in, version);
  return version;
}

// The byte of a bucket's durability has its versioning in the high half.
constexpr unsigned kVersioningShift = 4;

void put(Encoder& out, const Bucket& bucket) {
  out.varint(bucket.id.value());
  out.text(bucket.name);
  out.varint(static_cast<std::uint64_t>(bucket.created_ms));
  out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(bucket.durability) |
                                   static_cast<unsigned>(bucket.versioning) << kVersioningShift));
  out.varint(bucket.undo_window_ms);
  put(out, bucket.properties);
}
Bucket take_bucket(Decoder& in) {
  Bucket bucket;
  bucket.id = BucketId(static_cast<std::uint32_t>(in.varint()));
  bucket.name = in.text();
  bucket.created_ms = static_cast<std::int64_t>(in.varint());
  const unsigned classes = in.u8();
  const unsigned durability = classes & ((1U << kVersioningShift) - 1);
  const unsigned versioning = classes >> kVersioningShift;
  const bool is_known = durability <= static_cast<unsigned>(Durability::relaxed) &&
                        versioning <= static_cast<unsigned>(Versioning::suspended);
  if (!is_known) in.set_failed();
  bucket.durability = static_cast<Durability>(durability);
  bucket.versioning = static_cast<Versioning>(versioning);
  bucket.undo_window_ms = in.varint();
  bucket.properties = take_attributes(in);
  return bucket;
}

void put(Encoder& out, const Upload& upload) {
  out.u64(upload.id.value());
  put(out, upload.object);
  out.varint(static_cast<std::uint64_t>(upload.begun_ms));
  put(out, upload.attributes);
}
Upload take_upload(Decoder& in) {
  Upload upload;
  upload.id = UploadId(in.u64());
  upload.object = take_key(in);
  upload.begun_ms = static_cast<std::int64_t>(in.varint());
  upload.attributes = take_attributes(in);
  return upload;
}

void put(Encoder& out, const PutObject& change) {
  put(out, change.object);
  put(out, change.version);
  out.varint(change.upload.value());
  out.varint(change.replaced.value());
}
void take(Decoder& in, PutObject& change) {
  change.object = take_key(in);
  change.version = take_version(in);
  change.upload = UploadId(in.varint());
  change.replaced = VersionId(in.varint());
}

void put(Encoder& out, const RemoveObject& change) {
  put(out, change.object);
  out.varint(change.removed.value());
  out.varint(static_cast<std::uint64_t>(change.at_ms));
}
void take(Decoder& in, RemoveObject& change) {
  change.object = take_key(in);
  change.removed = VersionId(in.varint());
  change.at_ms = static_cast<std::int64_t>(in.varint());
}

void put(Encoder& out, const RestoreObject& change) {
  put(out, change.object);
  out.varint(change.restored.value());
  out.varint(static_cast<std::uint64_t>(change.at_ms));
}
void take(Decoder& in, RestoreObject& change) {
  change.object = take_key(in);
  change.restored = VersionId(in.varint());
  change.at_ms = static_cast<std::int64_t>(in.varint());
}

void put(Encoder& out, const PurgeVersion& change) {
  put(out, change.object);
  out.varint(change.purged.value());
}
void take(Decoder& in, PurgeVersion& change) {
  change.object = take_key(in);
  change.purged = VersionId(in.varint());
}

void put(Encoder& out, const PutBucket& change) {
  put(out, change.bucket);
}
void take(Decoder& in, PutBucket& change) {
  change.bucket = take_bucket(in);
}

void put(Encoder& out, const RemoveBucket& change) {
  out.varint(change.bucket.value());
}
void take(Decoder& in, RemoveBucket& change) {
  change.bucket = BucketId(static_cast<std::uint32_t>(in.varint()));
}

void put(Encoder& out, const BeginUpload& change) {
  put(out, change.upload);
}
void take(Decoder& in, BeginUpload& change) {
  change.upload = take_upload(in);
}

void put(Encoder& out, const PutPart& change) {
  out.u64(change.part.upload.value());
  out.varint(change.part.number);
  put(out, change.part.content);
}
void take(Decoder& in, PutPart& change) {
  change.part.upload = UploadId(in.u64());
  change.part.number = static_cast<std::uint32_t>(in.varint());
  change.part.content = take_version(in);
}

void put(Encoder& out, const EndUpload& change) {
  put(out, change.object);
  out.u64(change.upload.value());
}
void take(Decoder& in, EndUpload& change) {
  change.object = take_key(in);
  change.upload = UploadId(in.u64());
}

void put(Encoder& out, const KeepTrashed& change) {
  put(out, change.object);
  put(out, change.version);
  out.varint(static_cast<std::uint64_t>(change.since_ms));
  out.varint(static_cast<std::uint64_t>(change.until_ms));
}
void take(Decoder& in, KeepTrashed& change) {
  change.object = take_key(in);
  change.version = take_version(in);
  change.since_ms = static_cast<std::int64_t>(in.varint());
  change.until_ms = static_cast<std::int64_t>(in.varint());
}

// Alternative number `kind` of Change, default-made.
template <std::size_t I = 0>
Change empty_change(std::uint8_t kind) {
  if constexpr (I + 1 < kChangeKinds) {
    if (kind != I) return empty_change<I + 1>(kind);
  }
  return Change(std::in_place_index<I>);
}

template <class T>
std::string encode_one(const T& value) {
  std::string bytes;
  Encoder out(bytes);
  put(out, value);
  return bytes;
}

}  // namespace

std::string encode(const Change& change) {
  return std::visit([](const auto& one) { return encode_one(one); }, change);
}

Result<Change> decode_change(std::uint8_t kind, std::string_view bytes) {
  if (kind >= kChangeKinds) return fail(Errc::corrupt, "a change of an unknown kind");
  Change change = empty_change(kind);
  Decoder in(bytes);
  std::visit([&in](auto& one) { take(in, one); }, change);
  LEAT_DO(in.finish("a change"));
  return change;
}

std::string encode(const Version& version) {
  return encode_one(version);
}

Result<Version> decode_version(std::string_view bytes) {
  Decoder in(bytes);
  Version version = take_version(in);
  LEAT_DO(in.finish("a version"));
  return version;
}

std::string encode(const Bucket& bucket) {
  return encode_one(bucket);
}

Result<Bucket> decode_bucket(std::string_view bytes) {
  Decoder in(bytes);
  Bucket bucket = take_bucket(in);
  LEAT_DO(in.finish("a bucket"));
  return bucket;
}

std::string encode(const Upload& upload) {
  return encode_one(upload);
}

Result<Upload> decode_upload(std::string_view bytes) {
  Decoder in(bytes);
  Upload upload = take_upload(in);
  LEAT_DO(in.finish("an upload"));
  return upload;
}

}  // namespace leat::record
