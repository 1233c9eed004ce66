#include "shards/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

namespace leat::shards {
namespace {

constexpr std::size_t kListedMax = 20;

volume::ByteRange data_of(const shard::MemberRef& member) {
  return {.offset = member.data_offset, .length = member.size_bytes};
}

// The member as it stands in the archive.
volume::ByteRange whole_of(const shard::MemberRef& member) {
  return {.offset = member.start, .length = member.end() - member.start};
}

void append(Ranges& ranges, const volume::ByteRange& next) {
  if (!ranges.empty() && ranges.back().offset + ranges.back().length == next.offset) {
    ranges.back().length += next.length;
  } else {
    ranges.push_back(next);
  }
}

Result<std::uint64_t> find_sample(const shard::View& index, std::string_view key) {
  const auto found = index.find_sample(key);
  if (!found) return fail(Errc::not_found, fmt::format("the shard has no sample {:?}", key));
  return *found;
}

// The members of the sample, in the order of the shard.
std::vector<shard::MemberRef> members_of(const shard::View& index, std::uint64_t number) {
  const shard::SampleRef sample = index.sample(number);
  std::vector<shard::MemberRef> members;
  for (std::uint64_t i = 0; i < sample.member_count; ++i) {
    const shard::MemberRef member = index.member(sample.first_member + i);
    // Members that belong to no sample may stand between.
    if (member.sample == number) members.push_back(member);
  }
  return members;
}

// The first ones of many names.
std::string listed(const std::vector<std::string_view>& names) {
  const std::size_t count = std::min(names.size(), kListedMax);
  const auto first = std::span(names).first(count);
  return fmt::format("{}{}", fmt::join(first, ", "), count < names.size() ? ", ..." : "");
}

// `members`: those of the sample. They are few; the fields of the whole shard may be many.
Result<shard::MemberRef> find_field(const shard::View& index, std::string_view sample,
                                    const std::vector<shard::MemberRef>& members,
                                    std::string_view field) {
  for (const shard::MemberRef& member : members) {
    if (index.field(*member.field) == field) return member;
  }
  std::vector<std::string_view> fields;
  for (const shard::MemberRef& member : members)
    fields.push_back(index.field(*member.field));
  return fail(Errc::not_found, fmt::format("the sample {:?} has no field {:?}; it has {}", sample,
                                           field, listed(fields)));
}

}  // namespace

std::uint64_t total_bytes(const Ranges& ranges) {
  std::uint64_t total = 0;
  for (const volume::ByteRange& range : ranges) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - total;
    total += std::min(range.length, room);
  }
  return total;
}

Ranges cut(const Ranges& ranges, std::uint64_t offset, std::uint64_t length) {
  Ranges inside;
  for (const volume::ByteRange& range : ranges) {
    const std::uint64_t skipped = std::min(offset, range.length);
    const std::uint64_t taken = std::min(length, range.length - skipped);
    if (taken > 0) inside.push_back({.offset = range.offset + skipped, .length = taken});
    offset -= skipped;
    length -= taken;
  }
  return inside;
}

std::string_view word_of(tar::Kind kind) {
  switch (kind) {
    case tar::Kind::file: return "file";
    case tar::Kind::directory: return "directory";
    case tar::Kind::link: return "link";
    case tar::Kind::other: return "device";
  }
  return "";
}

Result<volume::ByteRange> select_member(const shard::View& index, std::string_view name) {
  const auto found = index.find_member(name);
  if (!found) return fail(Errc::not_found, fmt::format("the shard has no member {:?}", name));
  const shard::MemberRef member = index.member(*found);
  if (member.kind == tar::Kind::file) return data_of(member);
  // An empty answer would be taken for an empty file.
  return fail(Errc::bad_request,
              fmt::format("{:?} is a {} in the archive and has no data of its own", name,
                          word_of(member.kind)));
}

Result<std::vector<FieldData>> select_sample(const shard::View& index, std::string_view key,
                                             const std::vector<std::string>& fields) {
  LEAT_TRY(const std::uint64_t sample, find_sample(index, key));
  const std::uint64_t count = index.sample(sample).member_count;
  if (count > kSampleMembersMax) {
    return fail(Errc::bad_request,
                fmt::format("the sample {:?} has {} members, which is too many", key, count));
  }
  const auto members = members_of(index, sample);
  std::vector<FieldData> selected;
  if (fields.empty()) {
    for (const shard::MemberRef& member : members)
      selected.push_back({.field = index.field(*member.field), .data = data_of(member)});
  }
  for (const std::string& field : fields) {
    LEAT_TRY(const shard::MemberRef member, find_field(index, key, members, field));
    selected.push_back({.field = index.field(*member.field), .data = data_of(member)});
  }
  return selected;
}

namespace {

Result<Ranges> select_in_sample(const shard::View& index, const Narrowing& narrowing) {
  LEAT_TRY(const std::uint64_t sample, find_sample(index, *narrowing.sample));
  const auto members = members_of(index, sample);
  for (const std::string& field : narrowing.fields)
    LEAT_DO(find_field(index, *narrowing.sample, members, field));
  Ranges ranges;
  for (const shard::MemberRef& member : members) {
    const std::string_view field = index.field(*member.field);
    const bool is_wanted = narrowing.fields.empty() ||
                           std::ranges::find(narrowing.fields, field) != narrowing.fields.end();
    if (is_wanted) append(ranges, whole_of(member));
  }
  return ranges;
}

}  // namespace

Result<Ranges> select_members(const shard::View& index, const Narrowing& narrowing) {
  if (narrowing.sample) return select_in_sample(index, narrowing);
  std::vector<bool> is_wanted(index.field_count(), narrowing.fields.empty());
  for (const std::string& field : narrowing.fields) {
    const auto id = index.find_field(field);
    if (!id) {
      return fail(Errc::not_found, fmt::format("no sample of the shard has {:?}; its fields are {}",
                                               field, listed(index.fields())));
    }
    is_wanted[*id] = true;
  }
  Ranges ranges;
  for (std::uint64_t i = 0; i < index.member_count(); ++i) {
    const shard::MemberRef member = index.member(i);
    if (member.field && is_wanted[*member.field]) append(ranges, whole_of(member));
  }
  return ranges;
}

}  // namespace leat::shards
