#include "ingest/catalog.h"

#include "base/check.h"
#include "shard/sample_name.h"

namespace leat::ingest {

Catalog::Catalog() {
  origins_.push_back({.kind = OriginKind::text});
}

std::uint32_t Catalog::add_origin(Origin origin) {
  origins_.push_back(std::move(origin));
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

std::uint64_t Catalog::add_text(std::string_view text) {
  const std::uint64_t at = text_.size();
  text_ += text;
  return at;
}

Member Catalog::make(const NewItem& item) {
  const Member member{.name_at = text_.size(),
                      .name_bytes = static_cast<std::uint32_t>(item.name.size()),
                      .origin = item.origin,
                      .offset = item.offset,
                      .size_bytes = item.size_bytes,
                      .mtime_s = item.mtime_s,
                      .changed_ns = item.changed_ns};
  text_ += item.name;
  return member;
}

void Catalog::begin_group(std::uint32_t label, bool is_sample) {
  groups_.push_back({.first = members_.size(), .label = label, .is_sample = is_sample});
  if (is_sample) ++samples_;
}

void Catalog::add(const NewItem& item) {
  LEAT_CHECK(!groups_.empty());
  members_.push_back(make(item));
  ++groups_.back().count;
  data_bytes_ += item.size_bytes;
}

void Catalog::set_preface(const NewItem& item) {
  preface_ = make(item);
}

std::string Catalog::path(const Member& member) const {
  const Origin& origin = origins_[member.origin];
  if (origin.kind != OriginKind::folder) return origin.path;
  std::string path = origin.path;
  if (!path.ends_with('/')) path += '/';
  path += name(member);
  return path;
}

std::string_view Catalog::key(const Group& group) const {
  const std::string_view first = name(members_[group.first]);
  const auto split = shard::split_name(first);
  return split ? split->key : first;
}

}  // namespace leat::ingest
