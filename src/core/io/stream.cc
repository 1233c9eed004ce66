#include "io/stream.h"

namespace leat::io {

std::span<Bytes> drop_front(std::span<Bytes> pieces, std::size_t count) {
  while (!pieces.empty() && count >= pieces.front().size()) {
    count -= pieces.front().size();
    pieces = pieces.subspan(1);
  }
  if (count > 0) pieces.front() = pieces.front().subspan(count);
  return pieces;
}

rt::Task<std::size_t> read_some(Stream& stream, MutableBytes target) {
  while (true) {
    Result<std::size_t> count = stream.try_read(target);
    if (count || count.error().code() != Errc::would_block) co_return count;
    LEAT_CO_DO(co_await stream.wait(Interest::read));
  }
}

rt::Task<void> write_all(Stream& stream, std::span<Bytes> pieces, Flush flush) {
  pieces = drop_front(pieces, 0);
  while (!pieces.empty()) {
    Result<std::size_t> count = stream.try_write(pieces, flush);
    if (count) {
      pieces = drop_front(pieces, *count);
    } else if (count.error().code() == Errc::would_block) {
      LEAT_CO_DO(co_await stream.wait(Interest::write));
    } else {
      co_return fail(std::move(count).error());
    }
  }
  co_return Status{};
}

}  // namespace leat::io
