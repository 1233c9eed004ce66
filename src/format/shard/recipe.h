// Recipe: a shard that is made of plain objects. It says which objects stand for which members, and
// so fixes a tar, byte by byte, that nobody has stored.
//
// Bytes: docs/formats/recipe.md. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "tar/scanner.h"

namespace leat::shard {

constexpr std::string_view kRecipeType = "application/vnd.leat.recipe";

// What is refused as damage: more members, larger recipes, and longer tars.
constexpr std::size_t kRecipeMembersMax = 65'536;
constexpr std::uint64_t kRecipeMaxBytes = 64 * kMiB;
constexpr std::uint64_t kRecipeTarMaxBytes = std::uint64_t{1} << 59;

// An object, and the name of the member that it is.
struct Ingredient {
  std::string name{};
  std::string key{};
  std::string etag{};
  std::uint64_t size_bytes = 0;
  bool operator==(const Ingredient&) const = default;
};

struct Recipe {
  std::vector<Ingredient> members{};  // in the order of the archive
  bool operator==(const Recipe&) const = default;
};

std::string encode(const Recipe& recipe);
// Errors: corrupt; not_implemented for what a later version wrote.
Result<Recipe> decode_recipe(Bytes bytes);

// Where everything is in the tar.
struct RecipeLayout {
  std::vector<tar::Member> members{};
  std::uint64_t size_bytes = 0;  // of the whole archive

  // The number of the member that has this byte, header and padding included; the count of members
  // for the end of the archive. Requires: offset < size_bytes.
  std::size_t member_at(std::uint64_t offset) const;
};
RecipeLayout lay_out(const Recipe& recipe);

// The index of that tar. Errors: bad_request, when it is too large, or a sample has a field twice.
Result<std::string> make_index(const RecipeLayout& layout);

}  // namespace leat::shard
