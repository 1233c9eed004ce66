// What a vacuum is about to remove, for all who commit in the bucket. Pure.
//
// A commit that finds a shard and a vacuum that removes it must not miss each other, whichever
// dataset they are about. So a vacuum publishes what will go in the control store, looks once more
// whether a version needs it, and then removes it. A commit reads that before it looks for shards,
// does not take what is there, and is made again if it has changed when the pointer moves.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/control_store.h"

namespace leat::datasets {

struct Doomed {
  // Key to a time: what was stored later under the key is another object, and stays.
  std::map<std::string, std::int64_t> objects{};
  // 0: nothing was removed in the bucket so far. What is over leaves an empty entry behind, so that
  // a commit sees that there was something.
  control::Revision modified{};

  bool holds(const std::string& key, std::int64_t stored_ms) const {
    const auto found = objects.find(key);
    return found != objects.end() && stored_ms <= found->second;
  }
};

std::string encode(const Doomed& doomed);
// Errors: corrupt.
Result<Doomed> decode_doomed(std::string_view text);

}  // namespace leat::datasets
