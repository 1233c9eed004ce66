#include "io/read_ahead.h"

#include <algorithm>

namespace leat::io {
namespace {

constexpr std::uint64_t kAlignment = 4096;

}  // namespace

// One buffer being read. The reading task holds it too, so it outlives an abandoned ReadAhead.
struct ReadAhead::Piece {
  std::shared_ptr<const File> file;
  BufferPool::Buffer buffer;
  std::uint64_t offset = 0;
  std::size_t length = 0;
  std::optional<Result<std::size_t>> outcome;
  rt::Resume<void> waiter;

  MutableBytes bytes() const { return buffer.bytes().first(length); }

  static rt::Task<void> read(std::shared_ptr<Piece> piece, FileIo& file_io) {
    const File& file = *piece->file;
    auto outcome = co_await file_io.read_at(file, piece->offset, piece->bytes());
    piece->outcome.emplace(std::move(outcome));
    if (piece->waiter) piece->waiter(Status{});
    co_return Status{};
  }
};

ReadAhead::ReadAhead(rt::Shard& shard, FileIo& file_io, BufferPool& pool, ReadAheadSource source,
                     std::size_t depth_max)
    : shard_(shard),
      file_io_(file_io),
      pool_(pool),
      source_(std::move(source)),
      depth_max_(depth_max),
      end_(source_.offset + source_.length),
      next_read_(source_.offset / kAlignment * kAlignment) {}

ReadAhead::~ReadAhead() = default;

rt::Task<Bytes> ReadAhead::next() {
  current_.reset();
  LEAT_CO_DO(co_await fill());
  if (pieces_.empty()) co_return Bytes{};
  current_ = std::move(pieces_.front());
  pieces_.pop_front();
  if (!current_->outcome) {
    auto read = rt::suspend<void>([this](rt::Resume<void> r) { current_->waiter = std::move(r); });
    LEAT_CO_DO(co_await std::move(read));
  }
  LEAT_CO_TRY(const std::size_t got, std::move(*current_->outcome));
  const std::uint64_t first = std::max(current_->offset, source_.offset);
  const std::uint64_t last = std::min(current_->offset + current_->length, end_);
  if (current_->offset + got < last) co_return fail(Errc::corrupt, "file ends before its range");
  co_return Bytes(current_->bytes().subspan(first - current_->offset, last - first));
}

rt::Task<void> ReadAhead::fill() {
  while (next_read_ < end_ && pieces_.size() < depth_max_) {
    if (pieces_.empty()) {
      LEAT_CO_TRY(auto first, co_await pool_.acquire());
      start(std::move(first));
    } else {
      auto extra = pool_.try_acquire_extra();
      if (!extra) break;
      start(std::move(extra));
    }
  }
  co_return Status{};
}

void ReadAhead::start(BufferPool::Buffer buffer) {
  auto piece = std::make_shared<Piece>();
  piece->file = source_.file;
  piece->buffer = std::move(buffer);
  piece->offset = next_read_;
  // No more than the range needs, in whole pages.
  const std::uint64_t needed = (end_ - next_read_ + kAlignment - 1) / kAlignment * kAlignment;
  piece->length = std::min<std::uint64_t>(piece->buffer.bytes().size(), needed);
  next_read_ += piece->length;
  pieces_.push_back(piece);
  // The outcome is kept in the piece; whoever takes the piece reports it.
  shard_.spawn(Piece::read(std::move(piece), file_io_), [](const Status&) {});
}

}  // namespace leat::io
