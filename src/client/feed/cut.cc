#include "feed/cut.h"

#include <algorithm>

#include "base/check.h"

namespace leat::feed {

Cut::Cut(std::uint64_t size, const CutOptions& options)
    : size_(size), options_(options), global_(options.batch_size * options.world) {
  LEAT_CHECK(options.batch_size > 0 && options.world > 0 && options.workers > 0);
  LEAT_CHECK(options.rank < options.world && options.worker < options.workers);
  LEAT_CHECK(options.position <= size);
  const std::uint64_t of_rank = batches_of_rank();
  batches_ = of_rank / options.workers + (of_rank % options.workers > options.worker ? 1 : 0);
}

std::uint64_t Cut::batches_of_rank() const {
  const std::uint64_t left = size_ - options_.position;
  const std::uint64_t whole = left / global_;
  const std::uint64_t rest = left % global_;
  switch (options_.tail) {
    case Tail::drop: return whole;
    case Tail::pad: return whole + (rest > 0 ? 1 : 0);
    case Tail::uneven: return whole + (rest > options_.rank * options_.batch_size ? 1 : 0);
  }
  return whole;
}

Slice Cut::batch(std::uint64_t number) const {
  LEAT_CHECK(number < batches_);
  const std::uint64_t of_rank = options_.worker + number * options_.workers;
  const std::uint64_t first =
      options_.position + of_rank * global_ + options_.rank * options_.batch_size;
  std::uint64_t count = options_.batch_size;
  if (options_.tail == Tail::uneven) count = std::min(count, size_ - first);
  return {.first = first, .count = count};
}

}  // namespace leat::feed
