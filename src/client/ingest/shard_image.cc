#include "ingest/shard_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "ingest/plan.h"
#include "shard/index.h"
#include "tar/writer.h"

namespace leat::ingest {
namespace {

// Copies what of `piece`, which stands at `piece_at`, falls into `target`, which stands at `at`.
void copy_overlap(std::string_view piece, std::uint64_t piece_at, MutableBytes target,
                  std::uint64_t at) {
  const std::uint64_t begin = std::max(piece_at, at);
  const std::uint64_t end = std::min(piece_at + piece.size(), at + target.size());
  if (begin >= end) return;
  std::memcpy(target.data() + (begin - at), piece.data() + (begin - piece_at), end - begin);
}

std::int64_t nanoseconds(WallTime time) {
  return time.time_since_epoch().count();
}

}  // namespace

ShardImage::ShardImage(const Catalog& catalog, std::vector<GroupId> groups)
    : catalog_(catalog), groups_(std::move(groups)), identity_(identity_of(catalog, groups_)) {
  shard::Builder index;
  std::uint64_t at = 0;
  const auto place = [&](const Member& item, std::uint64_t number, GroupId group) {
    const std::string name(catalog_.name(item));
    const std::uint64_t header =
        tar::header_bytes({.name = name, .size_bytes = item.size_bytes, .mtime_s = item.mtime_s});
    places_.push_back({.start = at,
                       .member = number,
                       .group = group,
                       .header_bytes = static_cast<std::uint32_t>(header)});
    index.add({.name = name,
               .kind = tar::Kind::file,
               .start = at,
               .data_offset = at + header,
               .size_bytes = item.size_bytes});
    at += header + item.size_bytes + tar::padding(item.size_bytes);
  };
  if (catalog_.preface()) place(*catalog_.preface(), kPreface, 0);
  for (const GroupId id : groups_) {
    const Group& group = catalog_.group(id);
    for (std::uint64_t i = group.first; i < group.first + group.count; ++i)
      place(catalog_.member(i), i, id);
    if (group.is_sample) ++samples_;
  }
  tail_at_ = at;
  if (index.is_too_large()) {
    tail_.assign(tar::kEndBytes, '\0');  // so many members that readers scan it
  } else {
    tail_ = index.finish_archive(at);
  }
}

const Member& ShardImage::member(const Place& place) const {
  return place.member == kPreface ? *catalog_.preface() : catalog_.member(place.member);
}

std::uint64_t ShardImage::end_of(std::size_t place) const {
  return place + 1 < places_.size() ? places_[place + 1].start : tail_at_;
}

std::uint64_t ShardImage::files_in(std::uint64_t offset, std::uint64_t length) const {
  std::uint64_t count = 0;
  const auto first = std::ranges::lower_bound(places_, offset, {}, &Place::start);
  // Each member counts in the range that its first byte is in.
  for (auto place = first; place != places_.end() && place->start < offset + length; ++place) {
    if (member(*place).origin != Catalog::kText) ++count;
  }
  return count;
}

Status ShardImage::read(io::Disk& disk, const Member& item, std::uint64_t from,
                        MutableBytes target) const {
  if (item.origin == Catalog::kText) {
    const std::string_view text = catalog_.text(item).substr(from, target.size());
    std::memcpy(target.data(), text.data(), text.size());
    return {};
  }
  const Catalog::Origin& origin = catalog_.origin(item.origin);
  const bool is_archive = origin.kind == Catalog::OriginKind::archive;
  LEAT_TRY(const io::FileRead read,
           disk.read_file(catalog_.path(item), item.offset + from, target));
  const std::uint64_t size = is_archive ? origin.size_bytes : item.size_bytes;
  const std::int64_t changed = is_archive ? origin.changed_ns : item.changed_ns;
  if (read.count < target.size() || read.info.size_bytes != size ||
      nanoseconds(read.info.changed) != changed) {
    return fail(Errc::conflict, "it changed while it was packed");
  }
  return {};
}

std::optional<BadGroup> ShardImage::fill(io::Disk& disk, std::uint64_t offset,
                                         MutableBytes target) const {
  LEAT_CHECK(offset + target.size() <= size_bytes());
  const std::uint64_t end = offset + target.size();
  auto place = std::ranges::upper_bound(places_, offset, {}, &Place::start);
  if (place != places_.begin()) --place;
  for (; place != places_.end() && place->start < end; ++place) {
    const Member& item = member(*place);
    const std::uint64_t data_at = place->start + place->header_bytes;
    const std::uint64_t data_end = data_at + item.size_bytes;
    if (data_at > offset) {
      const std::string header = tar::header(
          {.name = catalog_.name(item), .size_bytes = item.size_bytes, .mtime_s = item.mtime_s});
      copy_overlap(header, place->start, target, offset);
    }
    const std::uint64_t from = std::max(data_at, offset);
    const std::uint64_t to = std::min(data_end, end);
    // Whether a file is still empty is asked once, where its header begins.
    const bool is_empty =
        item.size_bytes == 0 && item.origin != Catalog::kText && place->start >= offset;
    if (from < to || is_empty) {
      const MutableBytes room =
          is_empty ? MutableBytes() : target.subspan(from - offset, to - from);
      const Status done = read(disk, item, is_empty ? 0 : from - data_at, room);
      if (!done) return BadGroup{place->group, catalog_.path(item), done.error().clone()};
    }
    const std::uint64_t zeros_from = std::max(data_end, offset);
    const std::uint64_t zeros_to =
        std::min(end_of(static_cast<std::size_t>(place - places_.begin())), end);
    if (zeros_from < zeros_to) {
      std::memset(target.data() + (zeros_from - offset), 0, zeros_to - zeros_from);
    }
  }
  copy_overlap(tail_, tail_at_, target, offset);
  return std::nullopt;
}

std::vector<BadGroup> ShardImage::inspect(io::Disk& disk) const {
  std::vector<BadGroup> bad;
  for (const Place& place : places_) {
    const Member& item = member(place);
    if (!bad.empty() && bad.back().group == place.group) continue;
    const Status done = read(disk, item, 0, {});
    if (!done) bad.push_back({place.group, catalog_.path(item), done.error().clone()});
  }
  return bad;
}

}  // namespace leat::ingest
