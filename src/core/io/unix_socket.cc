#include "io/unix_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace leat::io {
namespace {

constexpr int kBacklog = 128;
// Everybody may connect: who may have what is decided by what is said over the socket.
constexpr mode_t kMode = 0666;

bool is_abstract(std::string_view name) {
  return name.starts_with('@');
}

struct UnixAddress {
  sockaddr_un text{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&text); }
};

Result<UnixAddress> to_address(const std::string& name) {
  UnixAddress address;
  address.text.sun_family = AF_UNIX;
  if (name.empty() || name == "@" || name.size() >= sizeof(address.text.sun_path)) {
    return fail(Errc::bad_request, fmt::format("'{}' is no name for a socket: 1 to {} bytes are",
                                               name, sizeof(address.text.sun_path) - 1));
  }
  std::ranges::copy(name, address.text.sun_path);
  const std::size_t before = offsetof(sockaddr_un, sun_path);
  if (is_abstract(name)) {
    address.text.sun_path[0] = '\0';
    address.length = static_cast<socklen_t>(before + name.size());
  } else {
    address.length = static_cast<socklen_t>(before + name.size() + 1);
  }
  return address;
}

Result<Descriptor> make_socket() {
  Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return fail(Error::from_errno(errno, "socket"));
  return fd;
}

// True when the path is a socket that nobody listens on.
bool is_left_behind(const std::string& name, const UnixAddress& address) {
  struct stat s{};
  if (is_abstract(name) || ::lstat(name.c_str(), &s) != 0 || !S_ISSOCK(s.st_mode)) return false;
  const auto probe = make_socket();
  return probe && ::connect(probe->get(), address.get(), address.length) != 0 &&
         errno == ECONNREFUSED;
}

Result<Descriptor> bind_socket(const std::string& name, const UnixAddress& address) {
  LEAT_TRY(Descriptor fd, make_socket());
  if (::bind(fd.get(), address.get(), address.length) == 0) return fd;
  if (errno != EADDRINUSE) return fail(Error::from_errno(errno, "listen on " + name));
  if (is_left_behind(name, address) && ::unlink(name.c_str()) == 0 &&
      ::bind(fd.get(), address.get(), address.length) == 0) {
    return fd;
  }
  return fail(Errc::conflict, fmt::format("{} is in use", name));
}

// Room for the descriptors of one message, aligned as the kernel wants it.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * UnixStream::kDescriptorsMax)> bytes;
};

void take_descriptors(msghdr& message, std::vector<Descriptor>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      into.emplace_back(fd);
    }
  }
}

}  // namespace

UnixStream::UnixStream(const rt::Executor& executor, Descriptor fd, std::string name)
    : socket_(executor, std::move(fd), Address{.host = std::move(name), .port = 0}) {}

Result<std::size_t> UnixStream::try_write_with(Bytes bytes, std::span<const int> descriptors) {
  LEAT_CHECK(descriptors.size() <= kDescriptorsMax && !bytes.empty());
  iovec vector{const_cast<std::byte*>(bytes.data()), bytes.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  while (true) {
    const ssize_t n = ::sendmsg(socket_.descriptor(), &message, MSG_NOSIGNAL);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno == EAGAIN) return fail(Errc::would_block);
    if (errno == ETOOMANYREFS) return fail(Errc::busy, "too many descriptors are on their way");
    if (errno != EINTR) return fail(Error::from_errno(errno, "send"));
  }
}

Result<std::size_t> UnixStream::try_read_with(MutableBytes target,
                                              std::vector<Descriptor>& descriptors) {
  iovec vector{target.data(), target.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  while (true) {
    const ssize_t n = ::recvmsg(socket_.descriptor(), &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return fail(Errc::would_block);
    if (n < 0) return fail(Error::from_errno(errno, "recv"));
    take_descriptors(message, descriptors);
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
      return fail(Errc::busy, "no descriptors are left for what was passed");
    }
    return static_cast<std::size_t>(n);
  }
}

Result<UnixPeer> UnixStream::who() const {
  ucred found{};
  socklen_t length = sizeof(found);
  if (::getsockopt(socket_.descriptor(), SOL_SOCKET, SO_PEERCRED, &found, &length) != 0) {
    return fail(Error::from_errno(errno, "getsockopt"));
  }
  return UnixPeer{.process = found.pid, .user = found.uid};
}

UnixListener::UnixListener(rt::Shard& shard, Descriptor fd, std::string name)
    : shard_(shard), socket_(shard.executor(), fd.release()), name_(std::move(name)) {}

UnixListener::~UnixListener() {
  close();
}

Result<std::unique_ptr<UnixListener>> UnixListener::listen(rt::Shard& shard,
                                                           const std::string& name) {
  LEAT_TRY(const UnixAddress address, to_address(name));
  LEAT_TRY(Descriptor fd, bind_socket(name, address));
  if (!is_abstract(name) && ::chmod(name.c_str(), kMode) != 0) {
    return fail(Error::from_errno(errno, "chmod " + name));
  }
  if (::listen(fd.get(), kBacklog) != 0) {
    return fail(Error::from_errno(errno, "listen on " + name));
  }
  return std::unique_ptr<UnixListener>(new UnixListener(shard, std::move(fd), name));
}

rt::Task<std::unique_ptr<UnixStream>> UnixListener::accept() {
  while (!is_closed_) {
    Descriptor fd(
        ::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() >= 0) {
      co_return std::make_unique<UnixStream>(shard_.executor(), std::move(fd), name_);
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EAGAIN) co_return fail(Error::from_errno(errno, "accept"));
    boost::system::error_code error;
    co_await socket_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                                rt::await_into(error));
  }
  co_return fail(Errc::closed, "listener closed");
}

void UnixListener::close() {
  if (is_closed_) return;
  is_closed_ = true;
  // While it still listens: later the path may be another's.
  if (!is_abstract(name_)) ::unlink(name_.c_str());
  boost::system::error_code ignored;  // closing is best effort
  socket_.close(ignored);
}

Result<std::unique_ptr<UnixStream>> connect_unix(rt::Shard& shard, const std::string& name) {
  LEAT_TRY(const UnixAddress address, to_address(name));
  LEAT_TRY(Descriptor fd, make_socket());
  if (::connect(fd.get(), address.get(), address.length) != 0) {
    if (errno == EAGAIN) return fail(Errc::busy, fmt::format("too many wait at {}", name));
    return fail(Error::from_errno(errno, "connect " + name));
  }
  return std::make_unique<UnixStream>(shard.executor(), std::move(fd), name);
}

rt::Task<void> write_all_with(UnixStream& stream, Bytes bytes, std::span<const int> descriptors) {
  while (!bytes.empty()) {
    auto count = stream.try_write_with(bytes, descriptors);
    if (count) {
      bytes = bytes.subspan(*count);
      descriptors = {};
    } else if (count.error().code() == Errc::would_block) {
      LEAT_CO_DO(co_await stream.wait(Interest::write));
    } else {
      co_return fail(std::move(count).error());
    }
  }
  co_return Status{};
}

rt::Task<void> read_all_with(UnixStream& stream, MutableBytes target,
                             std::vector<Descriptor>& descriptors) {
  while (!target.empty()) {
    auto count = stream.try_read_with(target, descriptors);
    if (count && *count == 0) co_return fail(Errc::closed, "the peer ended too early");
    if (count) {
      target = target.subspan(*count);
    } else if (count.error().code() == Errc::would_block) {
      LEAT_CO_DO(co_await stream.wait(Interest::read));
    } else {
      co_return fail(std::move(count).error());
    }
  }
  co_return Status{};
}

}  // namespace leat::io
