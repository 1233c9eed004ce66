#include "index/keys.h"

#include "codec/codec.h"

namespace leat::index {
namespace {

using codec::Decoder;
using codec::Encoder;

std::string with_letter(char letter) {
  return std::string(1, letter);
}

std::string with_u32(char letter, std::uint32_t number) {
  std::string key(1, letter);
  Encoder(key).u32_sorted(number);
  return key;
}

std::string with_u64(char letter, std::uint64_t number) {
  std::string key(1, letter);
  Encoder(key).u64_sorted(number);
  return key;
}

std::string with_object(char letter, const record::ObjectKey& object) {
  std::string key = with_u32(letter, object.bucket.value());
  Encoder(key).text_sorted(object.key);
  return key;
}

}  // namespace

std::string object_key(const record::ObjectKey& object) {
  return object_prefix(object.bucket) + object.key;
}

std::string object_prefix(record::BucketId bucket) {
  return with_u32('o', bucket.value());
}

std::string_view object_name(std::string_view entry) {
  constexpr std::size_t kPrefixBytes = 5;
  return entry.substr(kPrefixBytes);
}

std::string trash_key(const record::ObjectKey& object, record::VersionId version) {
  std::string key = trash_prefix(object);
  Encoder(key).u64_sorted(version.value());
  return key;
}

std::string trash_prefix(const record::ObjectKey& object) {
  return with_object('v', object);
}

std::string trash_prefix(record::BucketId bucket) {
  return with_u32('v', bucket.value());
}

std::string due_key(const Due& due) {
  std::string key = with_u64('t', static_cast<std::uint64_t>(due.until_ms));
  Encoder out(key);
  out.u32_sorted(due.object.bucket.value());
  out.text_sorted(due.object.key);
  out.u64_sorted(due.version.value());
  return key;
}

std::string due_prefix() {
  return with_letter('t');
}

Result<Due> decode_due(std::string_view entry) {
  Decoder in(entry.substr(1));
  Due due;
  due.until_ms = static_cast<std::int64_t>(in.u64_sorted());
  due.object.bucket = record::BucketId(in.u32_sorted());
  due.object.key = in.text_sorted();
  due.version = record::VersionId(in.u64_sorted());
  LEAT_DO(in.finish("an entry of the trash"));
  return due;
}

std::string upload_key(const record::ObjectKey& object, record::UploadId upload) {
  std::string key = with_object('u', object);
  Encoder(key).u64_sorted(upload.value());
  return key;
}

std::string upload_prefix(record::BucketId bucket) {
  return with_u32('u', bucket.value());
}

std::string part_key(record::UploadId upload, std::uint32_t number) {
  std::string key = part_prefix(upload);
  Encoder(key).u32_sorted(number);
  return key;
}

std::string part_prefix(record::UploadId upload) {
  return with_u64('p', upload.value());
}

std::string bucket_key(record::BucketId bucket) {
  return with_u32('b', bucket.value());
}

std::string bucket_prefix() {
  return with_letter('b');
}

std::string counts_key(record::BucketId bucket) {
  return with_u32('a', bucket.value());
}

std::string counts_prefix() {
  return with_letter('a');
}

std::string segment_key(record::SegmentId segment) {
  return with_u64('s', segment.value());
}

std::string segment_prefix() {
  return with_letter('s');
}

std::string file_key(record::FileId file) {
  return with_u64('f', file.value());
}

std::string file_prefix() {
  return with_letter('f');
}

std::string garbage_key(record::FileId file) {
  return with_u64('g', file.value());
}

std::string garbage_prefix() {
  return with_letter('g');
}

std::string applied_key() {
  return with_letter('m');
}

std::uint64_t number_in(std::string_view entry) {
  Decoder in(entry.substr(1));
  return entry.size() == 5 ? in.u32_sorted() : in.u64_sorted();
}

}  // namespace leat::index
