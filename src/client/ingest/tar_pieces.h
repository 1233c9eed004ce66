// TarPieces: the members of a tar that comes in pieces, with their data: for who takes one apart.
//
// Directories, links and what else is no file are passed over, and so are Leat's own members.
// Shard: one at a time. Lifetime: what the callbacks refer to outlives it.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "tar/scanner.h"

namespace leat::ingest {

class TarPieces {
 public:
  struct Sink {
    // A file begins; its data follow in pieces, then its end.
    std::function<Status(const tar::Member& member)> begin{};
    std::function<Status(Bytes piece)> data{};
    std::function<Status()> end{};
  };

  explicit TarPieces(Sink sink);

  // Errors: what the sink says; bad_request, when it is no sound tar.
  Status feed(Bytes bytes);
  // Requires: called once, last.
  Status finish();

  std::uint64_t passed_over() const { return passed_over_; }

 private:
  Status deliver(Bytes bytes, std::uint64_t at);
  Status check() const;

  Sink sink_;
  tar::Scanner scanner_;
  std::deque<tar::Member> waiting_;  // announced, and not yet complete
  bool is_begun_ = false;            // the first of them
  std::uint64_t passed_over_ = 0;
};

}  // namespace leat::ingest
