#include "io/uring_io.h"

#include <liburing.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <deque>
#include <utility>

#include "base/check.h"
#include "io/descriptor.h"

namespace leat::io {
namespace asio = boost::asio;

namespace {

// The kernel takes at most 2 GiB in one call; we stay far below.
constexpr std::size_t kCallMax = std::size_t{1} << 30;

// One request, kept in the frame of the task that waits for it.
struct Request {
  std::uint8_t opcode = 0;
  int fd = -1;
  std::uint64_t offset = 0;
  void* data = nullptr;
  unsigned length = 0;
  rt::Resume<std::size_t> resume;
  struct Pair* pair = nullptr;  // that it is one of; it is woken instead
  int outcome = 0;              // of one of a pair
};

// A request, and another one that begins when the first has done all it was asked for.
struct Pair {
  Request first;
  Request second;
  int left = 2;
  rt::Resume<void> resume;
};

}  // namespace

class UringIo::Ring {
 public:
  Ring(rt::Shard& shard, std::uint32_t depth, io_uring ring, Descriptor wake)
      : executor_(shard.executor()),
        depth_(depth),
        ring_(ring),
        wake_(shard.executor(), wake.release()) {
    listen();
  }

  ~Ring() {
    LEAT_CHECK(in_flight_ == 0 && waiting_.empty());
    io_uring_queue_exit(&ring_);
  }

  // Returns what the call returned, or its errno as an Error.
  rt::Task<std::size_t> perform(Request& request) {
    return rt::suspend<std::size_t>([this, &request](rt::Resume<std::size_t> resume) {
      request.resume = std::move(resume);
      if (in_flight_ >= depth_) {
        waiting_.push_back(&request);
      } else {
        start(request);
      }
    });
  }

  // Nobody waits, and there is room for two.
  bool has_room_for_pair() const { return waiting_.empty() && in_flight_ + 2 <= depth_; }

  // Both outcomes stand in the pair. The second is cancelled if the first fails or does less.
  // Requires: has_room_for_pair().
  rt::Task<void> perform(Pair& pair) {
    return rt::suspend<void>([this, &pair](rt::Resume<void> resume) {
      pair.resume = std::move(resume);
      pair.first.pair = &pair;
      pair.second.pair = &pair;
      start(pair.first, IOSQE_IO_LINK);
      start(pair.second);
    });
  }

  // Grows when the kernel took only some of what was submitted: it forgets then that the last of
  // them was linked to the one behind it.
  std::uint64_t splits() const { return splits_; }

 private:
  void start(Request& request, unsigned flags = 0) {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    LEAT_CHECK(sqe != nullptr);  // in_flight_ < depth_ leaves a free entry
    io_uring_prep_rw(request.opcode, sqe, request.fd, request.data, request.length, request.offset);
    if (request.opcode == IORING_OP_FSYNC) sqe->fsync_flags = IORING_FSYNC_DATASYNC;
    io_uring_sqe_set_flags(sqe, flags);
    io_uring_sqe_set_data(sqe, &request);
    ++in_flight_;
    if (submit_planned_) return;
    submit_planned_ = true;
    asio::post(executor_, [this] { submit(); });
  }

  // The kernel may be short of memory for requests and take none or only some of them: the rest is
  // tried again in the next turn of the loop.
  void submit() {
    const unsigned wanted = io_uring_sq_ready(&ring_);
    const int submitted = io_uring_submit(&ring_);
    LEAT_CHECK(submitted >= 0 || submitted == -EAGAIN || submitted == -EBUSY);
    if (submitted != static_cast<int>(wanted)) ++splits_;
    submit_planned_ = io_uring_sq_ready(&ring_) > 0;
    if (submit_planned_) asio::post(executor_, [this] { submit(); });
  }

  void listen() {
    wake_.async_wait(asio::posix::descriptor_base::wait_read,
                     [this](const boost::system::error_code& error) {
                       if (error) return;
                       std::uint64_t count = 0;
                       (void)::read(wake_.native_handle(), &count, sizeof(count));
                       reap();
                       listen();
                     });
  }

  void reap() {
    io_uring_cqe* cqe = nullptr;
    while (io_uring_peek_cqe(&ring_, &cqe) == 0) {
      auto* request = static_cast<Request*>(io_uring_cqe_get_data(cqe));
      const int outcome = cqe->res;
      io_uring_cqe_seen(&ring_, cqe);
      --in_flight_;
      if (request->pair != nullptr) {
        request->outcome = outcome;
        if (--request->pair->left == 0) request->pair->resume(Status{});
      } else if (outcome >= 0) {
        request->resume(static_cast<std::size_t>(outcome));
      } else {
        const bool is_sync = request->opcode == IORING_OP_FSYNC;
        request->resume(fail(is_sync ? failed_sync(-outcome, "io_uring")
                                     : Error::from_errno(-outcome, "io_uring")));
      }
    }
    while (in_flight_ < depth_ && !waiting_.empty()) {
      Request* next = waiting_.front();
      waiting_.pop_front();
      start(*next);
    }
  }

  rt::Executor executor_;
  std::uint32_t depth_;
  std::uint32_t in_flight_ = 0;
  bool submit_planned_ = false;
  std::uint64_t splits_ = 0;
  io_uring ring_;
  asio::posix::basic_stream_descriptor<rt::Executor> wake_;
  std::deque<Request*> waiting_;
};

Result<std::unique_ptr<UringIo>> UringIo::open(rt::Shard& shard, std::uint32_t depth) {
  io_uring ring{};
  const int made = io_uring_queue_init(depth, &ring, 0);
  if (made < 0) return fail(Errc::not_implemented, Error::from_errno(-made, "io_uring").message());
  Descriptor wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (wake.get() < 0 || io_uring_register_eventfd(&ring, wake.get()) != 0) {
    io_uring_queue_exit(&ring);
    return fail(Errc::not_implemented, "io_uring: no eventfd");
  }
  auto owned = std::make_unique<Ring>(shard, depth, ring, std::move(wake));
  return std::unique_ptr<UringIo>(new UringIo(std::move(owned)));
}

UringIo::UringIo(std::unique_ptr<Ring> ring) : ring_(std::move(ring)) {}
UringIo::~UringIo() = default;

rt::Task<std::size_t> UringIo::read_at(const File& file, std::uint64_t offset,
                                       MutableBytes target) {
  std::size_t done = 0;
  while (done < target.size()) {
    Request request;
    request.opcode = IORING_OP_READ;
    request.fd = file.descriptor();
    request.offset = offset + done;
    request.data = target.data() + done;
    request.length = static_cast<unsigned>(std::min(target.size() - done, kCallMax));
    LEAT_CO_TRY(const std::size_t n, co_await ring_->perform(request));
    if (n == 0) break;
    done += n;
    // A short read is the end of the file, unless the kernel stopped at its own limit: a page's
    // end.
    if (n < request.length && (request.offset + n) % 4096 != 0) break;
  }
  co_return done;
}

rt::Task<void> UringIo::write_at(File& file, std::uint64_t offset, Bytes source) {
  std::size_t done = 0;
  while (done < source.size()) {
    Request request;
    request.opcode = IORING_OP_WRITE;
    request.fd = file.descriptor();
    request.offset = offset + done;
    request.data = const_cast<std::byte*>(source.data() + done);
    request.length = static_cast<unsigned>(std::min(source.size() - done, kCallMax));
    LEAT_CO_TRY(const std::size_t n, co_await ring_->perform(request));
    done += n;
  }
  co_return Status{};
}

rt::Task<void> UringIo::sync_data(File& file) {
  Request request;
  request.opcode = IORING_OP_FSYNC;
  request.fd = file.descriptor();
  LEAT_CO_DO(co_await ring_->perform(request));
  co_return Status{};
}

LinkedOutcome judge_linked(const LinkedAnswers& answers) {
  LinkedOutcome outcome;
  // The kernel tells of a failed sync once: another one would not find it.
  if (answers.sync < 0 && answers.sync != -ECANCELED) {
    outcome.synced = fail(failed_sync(-answers.sync, "io_uring"));
    outcome.is_through = true;
  }
  if (answers.write < 0) {
    outcome.written = fail(Error::from_errno(-answers.write, "io_uring"));
    outcome.is_through = true;
  }
  const bool is_whole = std::cmp_equal(answers.write, answers.wanted_bytes);
  if (answers.sync >= 0 && is_whole && !answers.was_split) outcome.is_through = true;
  return outcome;
}

rt::Task<void> UringIo::write_and_sync(File& file, std::uint64_t offset, Bytes source,
                                       Status& synced) {
  if (!ring_->has_room_for_pair() || source.size() > kCallMax) {
    co_return co_await FileIo::write_and_sync(file, offset, source, synced);
  }
  Pair pair;
  pair.first.opcode = IORING_OP_WRITE;
  pair.first.fd = file.descriptor();
  pair.first.offset = offset;
  pair.first.data = const_cast<std::byte*>(source.data());
  pair.first.length = static_cast<unsigned>(source.size());
  pair.second.opcode = IORING_OP_FSYNC;
  pair.second.fd = file.descriptor();
  const std::uint64_t splits = ring_->splits();
  LEAT_CO_DO(co_await ring_->perform(pair));
  LinkedOutcome outcome = judge_linked({.write = pair.first.outcome,
                                        .sync = pair.second.outcome,
                                        .wanted_bytes = source.size(),
                                        .was_split = splits != ring_->splits()});
  synced = std::move(outcome.synced);
  if (!outcome.written || outcome.is_through) co_return std::move(outcome.written);
  const auto done = static_cast<std::size_t>(pair.first.outcome);
  co_return co_await FileIo::write_and_sync(file, offset + done, source.subspan(done), synced);
}

}  // namespace leat::io
