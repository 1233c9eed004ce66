#include "shard/scanner.h"

#include "base/check.h"

namespace leat::shard {

ShardScanner::ShardScanner(std::uint64_t index_max_bytes, tar::Limits limits)
    : builder_(index_max_bytes),
      scanner_([this](const tar::Member& member) { builder_.add(member); }, limits) {}

void ShardScanner::feed(Bytes bytes) {
  scanner_.feed(bytes);
}

std::uint64_t ShardScanner::skippable() const {
  return scanner_.skippable();
}

void ShardScanner::skip(std::uint64_t bytes) {
  scanner_.skip(bytes);
}

Summary ShardScanner::finish() {
  scanner_.finish();
  if (scanner_.state() == tar::Scanner::State::not_tar) return {};
  if (scanner_.state() == tar::Scanner::State::broken) return {.problem = scanner_.problem()};
  if (builder_.is_too_large()) return {.problem = "it has too many members for an index"};
  return {.is_shard = true,
          .samples = builder_.samples(),
          .members = builder_.members(),
          .problem = builder_.problem()};
}

std::string ShardScanner::take_index() {
  LEAT_CHECK(scanner_.state() == tar::Scanner::State::ended);
  return builder_.finish(scanner_.offset());
}

}  // namespace leat::shard
