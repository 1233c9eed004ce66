#include "io/tcp_network.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>

#include "io/tcp_stream.h"

namespace leat::io {
namespace asio = boost::asio;

namespace {

using asio::ip::tcp;

Result<tcp::endpoint> to_endpoint(const Address& address) {
  boost::system::error_code error;
  const std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  const auto ip = asio::ip::make_address(host, error);
  if (error) return fail(Errc::bad_request, fmt::format("{} is not an IP address", address.host));
  return tcp::endpoint(ip, address.port);
}

Address to_address(const tcp::endpoint& endpoint) {
  return {.host = endpoint.address().to_string(), .port = endpoint.port()};
}

void set_option(int fd, int level, int name, int value) {
  // Options only tune; a kernel that refuses one still serves.
  (void)::setsockopt(fd, level, name, &value, sizeof(value));
}

std::unique_ptr<Stream> make_stream(rt::Shard& shard, Descriptor fd, const tcp::endpoint& peer,
                                    const TcpOptions& options) {
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (options.send_buffer_bytes > 0) {
    set_option(fd.get(), SOL_SOCKET, SO_SNDBUF, options.send_buffer_bytes);
  }
  return std::make_unique<TcpStream>(shard.executor(), std::move(fd), to_address(peer));
}

class TcpListener final : public Listener {
 public:
  TcpListener(rt::Shard& shard, Descriptor fd, Address address, TcpOptions options)
      : shard_(shard),
        socket_(shard.executor(), fd.release()),
        address_(std::move(address)),
        options_(options) {}

  rt::Task<std::unique_ptr<Stream>> accept() override {
    while (!closed_) {
      tcp::endpoint peer;
      socklen_t length = static_cast<socklen_t>(peer.capacity());
      Descriptor fd(
          ::accept4(socket_.native_handle(), peer.data(), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.get() >= 0) {
        peer.resize(length);
        co_return make_stream(shard_, std::move(fd), peer, options_);
      }
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EAGAIN) co_return fail(Error::from_errno(errno, "accept"));
      boost::system::error_code error;
      co_await socket_.async_wait(asio::posix::descriptor_base::wait_read, rt::await_into(error));
    }
    co_return fail(Errc::closed, "listener closed");
  }

  void close() override {
    closed_ = true;
    boost::system::error_code ignored;  // closing is best effort
    socket_.close(ignored);
  }

  const Address& address() const override { return address_; }

 private:
  rt::Shard& shard_;
  asio::posix::basic_stream_descriptor<rt::Executor> socket_;
  Address address_;
  TcpOptions options_;
  bool closed_ = false;
};

// Gives up waiting for a connection after a while by cancelling its socket.
class ConnectTimer {
 public:
  ConnectTimer(rt::Shard& shard, Stream& stream, Duration limit)
      : target_(std::make_shared<Stream*>(&stream)), timer_(shard.context(), limit) {
    timer_.async_wait([target = target_](const boost::system::error_code& error) {
      if (!error && *target != nullptr) (*target)->interrupt(Errc::timeout);
    });
  }
  ConnectTimer(const ConnectTimer&) = delete;
  ConnectTimer& operator=(const ConnectTimer&) = delete;

  // A timer that has expired but not run yet cannot be cancelled: it finds nobody.
  ~ConnectTimer() { *target_ = nullptr; }

 private:
  std::shared_ptr<Stream*> target_;
  asio::steady_timer timer_;
};

rt::Task<tcp::endpoint> resolve(rt::Shard& shard, Address address) {
  if (auto endpoint = to_endpoint(address)) co_return *endpoint;
  tcp::resolver resolver(shard.context());
  boost::system::error_code error;
  const std::string port = std::to_string(address.port);
  auto found = co_await resolver.async_resolve(address.host, port, rt::await_into(error));
  if (error || found.empty()) {
    co_return fail(Errc::not_found, fmt::format("host {}: {}", address.host, error.message()));
  }
  co_return found.begin()->endpoint();
}

Result<Descriptor> bind_socket(const Address& address, bool shared) {
  LEAT_TRY(const tcp::endpoint endpoint, to_endpoint(address));
  const int family = endpoint.protocol().family();
  Descriptor fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (fd.get() < 0) return fail(Error::from_errno(errno, "socket"));
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (shared) set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    return fail(Error::from_errno(errno, "listen on " + address.to_string()));
  }
  return fd;
}

}  // namespace

Status TcpNetwork::check_unused(const Address& address) {
  LEAT_DO(bind_socket(address, /*shared=*/false));
  return {};
}

Result<std::unique_ptr<Listener>> TcpNetwork::listen(const Address& address) {
  LEAT_TRY(Descriptor fd, bind_socket(address, /*shared=*/true));
  if (::listen(fd.get(), options_.listen_backlog) != 0) {
    return fail(Error::from_errno(errno, "listen on " + address.to_string()));
  }
  tcp::endpoint bound;
  socklen_t length = static_cast<socklen_t>(bound.capacity());
  if (::getsockname(fd.get(), bound.data(), &length) != 0) {
    return fail(Error::from_errno(errno, "getsockname"));
  }
  bound.resize(length);
  return std::make_unique<TcpListener>(shard_, std::move(fd), to_address(bound), options_);
}

rt::Task<std::unique_ptr<Stream>> TcpNetwork::connect(Address address) {
  LEAT_CO_TRY(const tcp::endpoint endpoint, co_await resolve(shard_, address));
  const int family = endpoint.protocol().family();
  Descriptor fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (fd.get() < 0) co_return fail(Error::from_errno(errno, "socket"));
  const int raw = fd.get();
  std::unique_ptr<Stream> stream = make_stream(shard_, std::move(fd), endpoint, options_);
  if (::connect(raw, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    if (errno != EINPROGRESS) co_return fail(Error::from_errno(errno, address.to_string()));
    const ConnectTimer timer(shard_, *stream, options_.connect_timeout);
    LEAT_CO_DO(co_await stream->wait(Interest::write));
  }
  int outcome = 0;
  socklen_t length = sizeof(outcome);
  (void)::getsockopt(raw, SOL_SOCKET, SO_ERROR, &outcome, &length);
  if (outcome != 0) co_return fail(Error::from_errno(outcome, "connect " + address.to_string()));
  co_return stream;
}

}  // namespace leat::io
