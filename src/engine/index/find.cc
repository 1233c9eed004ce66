// The reading half of the index: looking up, listing, walking.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

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

// The first name that may come behind `after`, which may be a group: that is passed over as a
// whole. Nothing if there can be none.
std::optional<std::string> first_behind(const std::string& prefix, const std::string& delimiter,
                                        const std::string& after) {
  const bool is_group = !delimiter.empty() && after.size() > prefix.size() &&
                        after.ends_with(delimiter) &&
                        after.find(delimiter, prefix.size()) + delimiter.size() == after.size();
  if (!is_group) return after + '\0';
  std::string behind = behind_prefix(after);
  if (behind.empty()) return std::nullopt;
  return behind;
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

Result<std::vector<Trashed>> Index::find_kept(const record::ObjectKey& object) const {
  LEAT_TRY(std::vector<Trashed> all, find_trash(object));
  std::erase_if(all, [](const Trashed& one) { return !one.is_kept(); });
  std::ranges::sort(all, std::ranges::greater{}, [](const Trashed& one) { return one.version.id; });
  return all;
}

Result<std::optional<Trashed>> Index::find_newest_kept(const record::ObjectKey& object) const {
  constexpr record::VersionId kLast(std::numeric_limits<std::uint64_t>::max());
  const std::string prefix = trash_prefix(object);
  kv::Cursor cursor = kv_.cursor();
  for (cursor.seek_back(trash_key(object, kLast));
       cursor.is_valid() && cursor.key().starts_with(prefix); cursor.previous()) {
    LEAT_TRY(auto trashed, decode_trashed(cursor.value()));
    if (trashed.is_kept()) return trashed;
  }
  LEAT_DO(cursor.status());
  return std::nullopt;
}

Result<std::optional<Trashed>> Index::find_kept(const record::ObjectKey& object,
                                                record::VersionId version) const {
  LEAT_TRY(const auto bytes, kv_.get(trash_key(object, version)));
  if (!bytes) return std::nullopt;
  LEAT_TRY(auto found, decode_trashed(*bytes));
  if (!found.is_kept()) return std::nullopt;
  return found;
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

Result<std::vector<record::Upload>> Index::list_uploads(const UploadsRequest& request) const {
  std::vector<record::Upload> uploads;
  const std::string bucket = upload_prefix(request.bucket);
  const bool is_within = request.from >= request.prefix;
  const record::ObjectKey first{.bucket = request.bucket,
                                .key = is_within ? request.from : request.prefix};
  const std::string begin = upload_key(first, is_within ? request.behind : record::UploadId());
  kv::Cursor cursor = kv_.cursor();
  for (cursor.seek(begin);
       cursor.is_valid() && cursor.key().starts_with(bucket) && uploads.size() < request.max;
       cursor.next()) {
    if (cursor.key() == begin) continue;  // no upload has the number zero
    LEAT_TRY(auto upload, record::decode_upload(cursor.value()));
    if (!upload.object.key.starts_with(request.prefix)) break;
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
  if (request.after.empty()) {
    cursor.seek(first);
  } else {
    const auto behind = first_behind(request.prefix, request.delimiter, request.after);
    if (!behind) return page;
    cursor.seek(bucket + std::max(request.prefix, *behind));
  }
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

namespace {

// Current and kept versions of a bucket, key by key: two parts of the index walked side by side.
class HistoryWalk {
 public:
  HistoryWalk(const kv::Kv& kv, const HistoryRequest& request)
      : request_(request),
        objects_(object_prefix(request.bucket)),
        trash_(trash_prefix(request.bucket)),
        cursors_(kv.twin_cursors()),
        current_(cursors_.first),
        past_(cursors_.second) {
    std::optional<std::string> first = request.after;
    if (!request.includes_after && !request.after.empty()) {
      first = first_behind(request.prefix, request.delimiter, request.after);
    }
    if (first) {
      seek(std::max(request.prefix, *first));
    } else {
      seek_end();
    }
  }

  Result<HistoryPage> run() {
    HistoryPage page;
    std::size_t count = 0;
    for (;;) {
      LEAT_TRY(const auto name, next_name());
      if (!name) return page;
      if (count >= request_.max) {
        page.next = group_of(*name).value_or(*name);
        return page;
      }
      LEAT_TRY(auto item, take(*name));
      if (!item) continue;
      count += item->is_group ? 1 : item->kept.size() + (item->current ? 1 : 0);
      page.items.push_back(std::move(*item));
    }
  }

 private:
  void seek(const std::string& name) {
    current_.seek(objects_ + name);
    past_.seek(trash_prefix({.bucket = request_.bucket, .key = name}));
  }

  void seek_end() {
    current_.seek(behind_prefix(objects_));
    past_.seek(behind_prefix(trash_));
  }

  // The first name that either part has and that is asked for.
  Result<std::optional<std::string>> next_name() {
    std::optional<std::string> first;
    if (current_.is_valid() && current_.key().starts_with(objects_)) {
      first = object_name(current_.key());
    } else {
      LEAT_DO(current_.status());
    }
    if (past_.is_valid() && past_.key().starts_with(trash_)) {
      std::string name = past_name();
      if (!first || name < *first) first = std::move(name);
    } else {
      LEAT_DO(past_.status());
    }
    if (first && !first->starts_with(request_.prefix)) first.reset();
    return first;
  }

  std::string past_name() const {
    codec::Decoder in(past_.key().substr(trash_.size()));
    return in.text_sorted();
  }

  std::optional<std::string> group_of(const std::string& name) const {
    if (request_.delimiter.empty()) return std::nullopt;
    const std::size_t cut = name.find(request_.delimiter, request_.prefix.size());
    if (cut == std::string::npos) return std::nullopt;
    return name.substr(0, cut + request_.delimiter.size());
  }

  // Nothing when all that is left of the key is in the trash.
  Result<std::optional<History>> take(const std::string& name) {
    LEAT_TRY(auto history, take_key(name));
    if (!history.current && history.kept.empty()) return std::nullopt;
    if (const auto group = group_of(name)) {
      const std::string behind = behind_prefix(*group);
      // Behind a group of 0xFF alone there is nothing.
      if (behind.empty()) {
        seek_end();
      } else {
        seek(behind);
      }
      return History{.name = *group, .is_group = true};
    }
    return history;
  }

  Result<History> take_key(const std::string& name) {
    History history{.name = name};
    if (current_.is_valid() && current_.key() == objects_ + name) {
      LEAT_TRY(history.current, record::decode_version(current_.value()));
      current_.next();
    }
    const std::string prefix = trash_prefix({.bucket = request_.bucket, .key = name});
    for (; past_.is_valid() && past_.key().starts_with(prefix); past_.next()) {
      LEAT_TRY(auto trashed, decode_trashed(past_.value()));
      if (trashed.is_kept()) history.kept.push_back(std::move(trashed));
    }
    std::ranges::reverse(history.kept);
    return history;
  }

  const HistoryRequest& request_;
  const std::string objects_;
  const std::string trash_;
  std::pair<kv::Cursor, kv::Cursor> cursors_;
  kv::Cursor& current_;
  kv::Cursor& past_;
};

}  // namespace

Result<HistoryPage> Index::list_histories(const HistoryRequest& request) const {
  if (request.max == 0) return HistoryPage{};
  return HistoryWalk(kv_, request).run();
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

Result<std::vector<record::FileId>> Index::find_garbage(std::size_t max,
                                                        record::FileId first) const {
  std::vector<record::FileId> files;
  const std::string prefix = garbage_prefix();
  kv::Cursor cursor = kv_.cursor();
  for (cursor.seek(garbage_key(first));
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

Result<bool> Index::is_held(const record::ObjectKey& object, const Version& version) const {
  if (const auto* files = std::get_if<std::vector<record::FileExtent>>(&version.place)) {
    // A file that was given up is never anybody's again.
    for (const record::FileExtent& extent : *files) {
      LEAT_TRY(const auto owned, kv_.get(file_key(extent.file)));
      if (!owned) return false;
    }
    return true;
  }
  LEAT_TRY(const auto current, find(object));
  if (current && current->id == version.id) return current->place == version.place;
  LEAT_TRY(const auto bytes, kv_.get(trash_key(object, version.id)));
  if (!bytes) return false;
  LEAT_TRY(const Trashed trashed, decode_trashed(*bytes));
  return trashed.version.place == version.place;
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
