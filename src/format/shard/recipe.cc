#include "shard/recipe.h"

#include <algorithm>

#include "codec/codec.h"
#include "hash/crc32c.h"
#include "shard/index.h"
#include "tar/writer.h"

namespace leat::shard {
namespace {

constexpr std::string_view kMagic = "LEATRCP\n";
constexpr std::uint32_t kFormat = 1;

std::unexpected<Error> damaged() {
  return fail(Errc::corrupt, "the recipe of a shard is damaged");
}

}  // namespace

std::string encode(const Recipe& recipe) {
  std::string entries;
  codec::Encoder entry(entries);
  entry.varint(recipe.members.size());
  for (const Ingredient& one : recipe.members) {
    entry.text(one.name);
    entry.text(one.key);
    entry.text(one.etag);
    entry.varint(one.size_bytes);
  }
  std::string bytes;
  codec::Encoder out(bytes);
  out.raw(kMagic);
  out.u32(kFormat);
  out.u32(hash::crc32c(as_bytes(entries)));
  out.raw(entries);
  return bytes;
}

Result<Recipe> decode_recipe(Bytes bytes) {
  codec::Decoder in(bytes);
  if (in.raw(kMagic.size()) != kMagic) return damaged();
  const std::uint32_t format = in.u32();
  if (format > kFormat) return fail(Errc::not_implemented, "a later Leat has written this recipe");
  const std::uint32_t sum = in.u32();
  if (in.failed() || sum != hash::crc32c(as_bytes(in.rest()))) return damaged();
  Recipe recipe;
  const std::uint64_t count = in.varint();
  if (bytes.size() > kRecipeMaxBytes || count > kRecipeMembersMax) return damaged();
  std::uint64_t left = kRecipeTarMaxBytes;
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    Ingredient one{.name = std::string(in.text()),
                   .key = std::string(in.text()),
                   .etag = std::string(in.text())};
    one.size_bytes = in.varint();
    // As tar::header() needs it, and so that sizes add up.
    const bool is_sound = !one.name.empty() && one.name.find('\0') == one.name.npos &&
                          !one.name.ends_with('/') && one.size_bytes <= left;
    if (!is_sound) return damaged();
    left -= one.size_bytes;
    recipe.members.push_back(std::move(one));
  }
  if (in.failed() || !in.rest().empty()) return damaged();
  return recipe;
}

std::size_t RecipeLayout::member_at(std::uint64_t offset) const {
  const auto behind = std::ranges::upper_bound(members, offset, {}, &tar::Member::start);
  const auto number = static_cast<std::size_t>(behind - members.begin());
  if (number == 0) return members.size();
  const tar::Member& member = members[number - 1];
  const std::uint64_t end =
      member.data_offset + member.size_bytes + tar::padding(member.size_bytes);
  return offset < end ? number - 1 : members.size();
}

RecipeLayout lay_out(const Recipe& recipe) {
  RecipeLayout layout;
  std::uint64_t at = 0;
  for (const Ingredient& one : recipe.members) {
    const tar::NewMember member{.name = one.name, .size_bytes = one.size_bytes};
    const std::uint64_t data = at + tar::header_bytes(member);
    layout.members.push_back(
        {.name = one.name, .start = at, .data_offset = data, .size_bytes = one.size_bytes});
    at = data + one.size_bytes + tar::padding(one.size_bytes);
  }
  layout.size_bytes = at + tar::kEndBytes;
  return layout;
}

Result<std::string> make_index(const RecipeLayout& layout) {
  Builder builder;
  for (const tar::Member& member : layout.members)
    builder.add(member);
  if (builder.is_too_large()) return fail(Errc::bad_request, "a recipe has too many members");
  if (!builder.problem().empty()) return fail(Errc::bad_request, builder.problem());
  return builder.finish(layout.size_bytes);
}

}  // namespace leat::shard
