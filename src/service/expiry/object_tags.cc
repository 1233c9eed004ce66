#include "expiry/object_tags.h"

#include "http1/uri.h"

namespace leat::expiry {
namespace {

constexpr std::string_view kTagging = "x-amz-tagging";

}  // namespace

std::vector<lifecycle::Tag> tags_of(const std::vector<record::Attribute>& attributes) {
  std::vector<lifecycle::Tag> tags;
  for (const record::Attribute& one : attributes) {
    if (one.name != kTagging) continue;
    const auto pairs = http1::parse_query(one.value);
    if (!pairs) continue;
    for (const http1::QueryPair& pair : *pairs)
      tags.emplace_back(pair.name, pair.value);
  }
  return tags;
}

}  // namespace leat::expiry
