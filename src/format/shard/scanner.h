// ShardScanner: makes the index of a shard while its bytes pass by, in any pieces: what a store
// feeds during a PUT.
//
//   ShardScanner scanner;
//   scanner.feed(bytes);                                   // as often as there are bytes
//   const Summary summary = scanner.finish();
//   if (summary.is_shard) store(scanner.take_index());
//
// An archive that is broken, or too large to index, gets no index at all: only the sentence that
// says why. Shard: one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "shard/index.h"
#include "tar/scanner.h"

namespace leat::shard {

struct Summary {
  bool is_shard = false;  // a sound tar, with or without samples: there is an index
  std::uint64_t samples = 0;
  std::uint64_t members = 0;
  // Why a tar has no index; or, beside an index, what WebDataset will not like about its samples.
  // Empty of what is no tar.
  std::string problem{};
};

class ShardScanner {
 public:
  explicit ShardScanner(std::uint64_t index_max_bytes = kIndexMaxBytes, tar::Limits limits = {});
  ShardScanner(const ShardScanner&) = delete;
  ShardScanner& operator=(const ShardScanner&) = delete;

  void feed(Bytes bytes);
  // As tar::Scanner: how many of the next bytes need not be read. Without limit once it is known
  // that there is no sound tar.
  std::uint64_t skippable() const;
  void skip(std::uint64_t bytes);
  std::uint64_t offset() const { return scanner_.offset(); }
  tar::Scanner::State state() const { return scanner_.state(); }

  // No more bytes come. Requires: called once, last.
  Summary finish();

  // Requires: finish() said is_shard; called once.
  std::string take_index();

 private:
  Builder builder_;
  tar::Scanner scanner_;
};

}  // namespace leat::shard
