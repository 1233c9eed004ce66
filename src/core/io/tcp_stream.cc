#include "io/tcp_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace leat::io {
namespace {

Error socket_error(int posix_errno, const char* call) {
  if (posix_errno == EAGAIN) return Error(Errc::would_block);
  return Error::from_errno(posix_errno, call);
}

}  // namespace

TcpStream::TcpStream(const rt::Executor& executor, Descriptor fd, Address peer)
    : socket_(executor, fd.release()), peer_(std::move(peer)) {}

TcpStream::~TcpStream() = default;

Result<std::size_t> TcpStream::try_read(MutableBytes target) {
  while (true) {
    const ssize_t n = ::recv(descriptor(), target.data(), target.size(), 0);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return fail(socket_error(errno, "recv"));
  }
}

Result<std::size_t> TcpStream::try_write(std::span<const Bytes> pieces, Flush flush) {
  std::array<iovec, 16> vectors;
  std::size_t count = 0;
  for (const Bytes& piece : pieces.first(std::min(pieces.size(), vectors.size()))) {
    vectors[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  const int flags = MSG_NOSIGNAL | (flush == Flush::more_follows ? MSG_MORE : 0);
  while (true) {
    const ssize_t n = ::sendmsg(descriptor(), &message, flags);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return fail(socket_error(errno, "send"));
  }
}

void TcpStream::set_corked(bool corked) {
  const int value = corked ? 1 : 0;
  ::setsockopt(descriptor(), IPPROTO_TCP, TCP_CORK, &value, sizeof(value));
}

Result<std::size_t> TcpStream::try_send_file(const File& file, std::uint64_t offset,
                                             std::size_t length) {
  off_t at = static_cast<off_t>(offset);
  while (true) {
    const ssize_t n = ::sendfile(descriptor(), file.descriptor(), &at, length);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) return fail(Errc::corrupt, "a file became shorter while it was sent");
    if (errno != EINTR) return fail(socket_error(errno, "sendfile"));
  }
}

rt::Task<void> TcpStream::wait(Interest interest) {
  using Kinds = boost::asio::posix::descriptor_base;
  if (interrupted_) co_return fail(reason_);
  boost::system::error_code error;
  const auto kind = interest == Interest::read ? Kinds::wait_read : Kinds::wait_write;
  co_await socket_.async_wait(kind, rt::await_into(error));
  if (interrupted_) co_return fail(reason_);
  if (error) co_return fail(Errc::closed, error.message());
  co_return Status{};
}

void TcpStream::interrupt(Errc reason) {
  if (interrupted_) return;
  interrupted_ = true;
  reason_ = reason;
  boost::system::error_code ignored;  // there is nobody left to tell
  socket_.cancel(ignored);
}

void TcpStream::finish_writing() {
  ::shutdown(descriptor(), SHUT_WR);
}

}  // namespace leat::io
