// The reading half of the index: looking up, listing, walking.
#include <fmt/format.h>

#include <algorithm>

#include "codec/codec.h"
#include "index/index.h"

namespace leat::index {

using record::Version;

// From index.cc: how an entry of the trash is stored.
Result<Trashed> decode_trashed(std::string_view bytes);

namespace {

Result<std::optional<Version>> decode_found(Result<std::optional<std::string>> found) {
  if (!found) return fail(std::move(found).error());
  if (!*found) return std::nullopt;
  LEAT_TRY(auto version, record::decode_version(**found));
  return version;
}

// The first key behind all that begin with `prefix`; empty if there is none.
std::string behind_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF')
    prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace

Result<std::optional<Version>> Index::find(const record::ObjectKey& object) const {
  return decode_found(kv_.get(object_key(object)));
}

Result<std::optional<Version>> Index::find_cached(const record::ObjectKey& object) const {
  return decode_found(kv_.get_cached(object_key(object)));
}

Result<std::vector<Trashed>> Index::find_trash(const record::ObjectKey& object) const {
  std::vector<Trashed> all;
  const std::string prefix = trash_prefix(object);
  kv::Cursor cursor = kv_.cursor();
  for (cursor.seek(prefix); cursor.is_valid() && cursor.key().starts_with(prefix); cursor.next()) {
    LEAT_TRY(auto trashed, decode_trashed(cursor.value()));
    all.push_back(std::move(trashed));
  }
  LEAT_DO(cursor.status());
  // The one that was put away last comes first.
  std::ranges::sort(all, [](const Trashed& a, const Trashed& b) {
    return std::pair(a.since_ms, a.version.sequence) > std::pair(b.since_ms, b.version.sequence);
  });
  return all;
}

Result<std::optional<record::Upload>> Index::find_upload(const record::ObjectKey& object,
                                                         record::UploadId upload) const {
  LEAT_TRY(const auto bytes, kv_.get(upload_key(object, upload)));
  if (!bytes) return std::nullopt;
  LEAT_TRY(auto found, record::decode_upload(*bytes));
  return found;
}

Result<std::vector<record::Part>> Index::find_parts(record::UploadId upload) const {
  std::vector<record::Part> parts;
  const std::string prefix = part_prefix(upload);
  kv::Cursor cursor = kv_.cursor();
  for (cursor.seek(prefix); cursor.is_valid() && cursor.key().starts_with(prefix); cursor.next()) {
    codec::Decoder number(cursor.key().substr(prefix.size()));
    LEAT_TRY(auto content, record::decode_version(cursor.value()));
    parts.push_back(
        {.upload = upload, .number = number.u32_sorted(), .content = std::move(content)});
  }
  LEAT_DO(cursor.status());
  return parts;
}

Result<std::vector<record::Upload>> Index::list_uploads(record::BucketId bucket) const {
  std::vector<record::Upload> uploads;
  const std::string prefix = upload_prefix(bucket);
  kv::Cursor cursor = kv_.cursor();
  for (cursor.seek(prefix); cursor.is_valid() && cursor.key().starts_with(prefix); cursor.next()) {
    LEAT_TRY(auto upload, record::decode_upload(cursor.value()));
    uploads.push_back(std::move(upload));
  }
  LEAT_DO(cursor.status());
  return uploads;
}

Result<ListPage> Index::list(const ListRequest& request) const {
  ListPage page;
  if (request.max == 0) return page;
  const std::string bucket = object_prefix(request.bucket);
  const std::string first = bucket + request.prefix;
  kv::Cursor cursor = kv_.cursor();
  // A group that was the last item of the page before is passed over as a whole.
  const bool after_group =
      !request.delimiter.empty() && request.after.size() > request.prefix.size() &&
      request.after.ends_with(request.delimiter) &&
      request.after.find(request.delimiter, request.prefix.size()) + request.delimiter.size() ==
          request.after.size();
  const std::string behind =
      after_group ? behind_prefix(bucket + request.after) : bucket + request.after + '\0';
  cursor.seek(request.after.empty() ? first : std::max(first, behind));
  while (cursor.is_valid() && cursor.key().starts_with(first)) {
    if (page.items.size() == request.max) {
      page.is_truncated = true;
      break;
    }
    const std::string_view name = object_name(cursor.key());
    const std::size_t cut = request.delimiter.empty()
                                ? std::string_view::npos
                                : name.find(request.delimiter, request.prefix.size());
    if (cut == std::string_view::npos) {
      LEAT_TRY(auto version, record::decode_version(cursor.value()));
      page.items.push_back({.name = std::string(name), .version = std::move(version)});
      cursor.next();
      continue;
    }
    std::string group(name.substr(0, cut + request.delimiter.size()));
    const std::string next = behind_prefix(bucket + group);
    page.items.push_back({.name = std::move(group), .version = std::nullopt});
    cursor.seek(next);
  }
  LEAT_DO(cursor.status());
  return page;
}

Result<std::vector<Due>> Index::find_due(std::int64_t now_ms, std::size_t max) const {
  std::vector<Due> all;
  const std::string prefix = due_prefix();
  kv::Cursor cursor = kv_.cursor();
  for (cursor.seek(prefix);
       all.size() < max && cursor.is_valid() && cursor.key().starts_with(prefix); cursor.next()) {
    LEAT_TRY(auto due, decode_due(cursor.key()));
    if (due.until_ms > now_ms) break;
    all.push_back(std::move(due));
  }
  LEAT_DO(cursor.status());
  return all;
}

Result<std::vector<record::FileId>> Index::find_garbage(std::size_t max) const {
  std::vector<record::FileId> files;
  const std::string prefix = garbage_prefix();
  kv::Cursor cursor = kv_.cursor();
  for (cursor.seek(prefix);
       files.size() < max && cursor.is_valid() && cursor.key().starts_with(prefix); cursor.next()) {
    files.emplace_back(number_in(cursor.key()));
  }
  LEAT_DO(cursor.status());
  return files;
}

Result<bool> Index::is_known(record::FileId file) const {
  LEAT_TRY(const auto owned, kv_.get(file_key(file)));
  if (owned) return true;
  LEAT_TRY(const auto garbage, kv_.get(garbage_key(file)));
  return garbage.has_value();
}

Result<std::string> Index::visit_versions(std::string_view after, std::size_t max,
                                          const VisitVersion& visit) const {
  // The letters of the kinds that hold data, in order: objects, parts, trash.
  constexpr std::string_view kLetters = "opv";
  kv::Cursor cursor = kv_.cursor();
  cursor.seek(after.empty() ? std::string(1, kLetters.front()) : std::string(after) + '\0');
  std::string last;
  for (std::size_t count = 0; count < max && cursor.is_valid();) {
    const char letter = cursor.key().front();
    if (letter > kLetters.back()) break;
    if (!kLetters.contains(letter)) {
      cursor.seek(std::string(1, static_cast<char>(letter + 1)));
      continue;
    }
    last = cursor.key();
    codec::Decoder in(cursor.key().substr(1));
    record::ObjectKey object;
    Version version;
    if (letter == 'p') {
      const std::uint64_t upload = in.u64_sorted();
      object.key = fmt::format("upload {:016x} part {}", upload, in.u32_sorted());
      LEAT_TRY(version, record::decode_version(cursor.value()));
    } else if (letter == 'o') {
      object.bucket = record::BucketId(in.u32_sorted());
      object.key = in.rest();
      LEAT_TRY(version, record::decode_version(cursor.value()));
    } else {
      object.bucket = record::BucketId(in.u32_sorted());
      object.key = in.text_sorted();
      LEAT_TRY(auto trashed, decode_trashed(cursor.value()));
      version = std::move(trashed.version);
    }
    LEAT_DO(visit(object, version));
    ++count;
    cursor.next();
    if (!cursor.is_valid()) last.clear();
  }
  LEAT_DO(cursor.status());
  if (!cursor.is_valid() || cursor.key().front() > kLetters.back()) last.clear();
  return last;
}

}  // namespace leat::index
