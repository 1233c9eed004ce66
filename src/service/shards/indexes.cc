#include "shards/indexes.h"

#include <fmt/format.h>

#include "store/shards.h"

namespace leat::shards {
namespace {

// One version of an object on one disk: what is known of it never becomes wrong.
std::string name_of(const store::Found& found) {
  std::string name(as_text(Bytes(found.disk)));
  return name + fmt::format("{:x}", found.version.id.value());
}

std::unexpected<Error> no_index(std::string_view problem) {
  if (problem.empty()) return fail(Errc::bad_request, "the object is no tar archive");
  return fail(Errc::bad_request,
              fmt::format("the object is a tar that cannot be indexed: {}", problem));
}

}  // namespace

Result<IndexPtr> LoadedIndex::open(std::string bytes) {
  auto loaded = std::make_shared<LoadedIndex>();
  loaded->bytes_ = std::move(bytes);
  LEAT_TRY(loaded->view_, shard::View::open(as_bytes(loaded->bytes_)));
  return loaded;
}

rt::Task<IndexPtr> ShardIndexes::find(const store::Found& found) {
  std::string name = name_of(found);
  LEAT_CO_TRY(const auto held, co_await loading_.acquire(name));
  if (const auto known = by_name_.find(name); known != by_name_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    co_return known->second->index;
  }
  LEAT_CO_TRY(IndexPtr index, co_await load(found));
  keep(std::move(name), index);
  co_return index;
}

rt::Task<IndexPtr> ShardIndexes::load(const store::Found& found) {
  const auto note = store::shard_note(found.version);
  if (note && !note->is_indexed) co_return no_index(note->problem);
  std::string bytes;
  if (record::appendix_bytes(found.version) > 0) {
    const volume::ByteRange behind{.offset = found.version.size_bytes,
                                   .length = record::appendix_bytes(found.version)};
    LEAT_CO_TRY(bytes, co_await store_.read_text(found, behind));
  } else {
    LEAT_CO_TRY(bytes, co_await make(found));
  }
  co_return LoadedIndex::open(std::move(bytes));
}

rt::Task<std::string> ShardIndexes::make(const store::Found& found) {
  shard::ShardScanner scanner;
  LEAT_CO_DO(co_await store_.scan_shard(found, scanner));
  const shard::Summary seen = scanner.finish();
  if (!seen.is_shard) co_return no_index(seen.problem);
  co_return scanner.take_index();
}

void ShardIndexes::keep(std::string name, IndexPtr index) {
  size_bytes_ += index->size_bytes();
  entries_.push_front({.name = name, .index = std::move(index)});
  by_name_.insert_or_assign(std::move(name), entries_.begin());
  while (size_bytes_ > max_bytes_ && entries_.size() > 1) {
    size_bytes_ -= entries_.back().index->size_bytes();
    by_name_.erase(entries_.back().name);
    entries_.pop_back();
  }
}

}  // namespace leat::shards
