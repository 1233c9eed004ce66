// Quarantine: the objects of a disk whose bytes failed their checksums, by whoever met it first, a
// read or a scrub.
//
// Nothing of such a version is served as long as its bytes are what they are: every read compares
// them again. So the list decides nothing; it tells operators what to bring back. An object leaves
// it when a whole scrub did not meet its damage any more, since it was written anew or removed.
//
// Shard: the volume's home.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "record/types.h"

namespace leat::volume {

class Quarantine {
 public:
  // Beyond it damage is counted, but neither listed nor logged: nobody could tell what is news.
  static constexpr std::size_t kMax = 10'000;

  // Damage was met. True if it was not known before and is listed now.
  bool add(const record::ObjectKey& object) {
    const auto known = seen_.find(object);
    if (known != seen_.end()) {
      known->second = round_;
      return false;
    }
    if (seen_.size() >= kMax) return false;
    seen_.emplace(object, round_);
    return true;
  }

  // It could not be read, so that nobody knows: what is listed stays.
  void keep(const record::ObjectKey& object) {
    const auto known = seen_.find(object);
    if (known != seen_.end()) known->second = round_;
  }

  // A scrub begins; one has read everything.
  void begin_round() { ++round_; }
  void end_round() {
    std::erase_if(seen_, [this](const auto& one) { return one.second < round_; });
  }

  std::size_t size() const { return seen_.size(); }
  std::vector<record::ObjectKey> objects() const {
    std::vector<record::ObjectKey> list;
    for (const auto& one : seen_)
      list.push_back(one.first);
    return list;
  }

 private:
  std::uint64_t round_ = 0;
  std::map<record::ObjectKey, std::uint64_t> seen_;  // and in which round last
};

}  // namespace leat::volume
