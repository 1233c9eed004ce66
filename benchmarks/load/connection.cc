#include "load/connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "load/die.h"
#include "load/load_options.h"

namespace leat::benchmarks {
namespace {

constexpr std::size_t kChunkBufferBytes = std::size_t{256} << 10;

// What an answer's head says. `length` is absent when the head does not state it.
struct AnswerHead {
  int status = 0;
  std::optional<std::uint64_t> length;
  bool is_chunked = false;
};

// The value of a line "Name: value" if it has that name, which is given in lower case.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':') return std::nullopt;
  if (::strncasecmp(line.data(), name.data(), name.size()) != 0) return std::nullopt;
  line.remove_prefix(name.size() + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

std::optional<AnswerHead> parse_head(std::string_view head) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  if (!head.starts_with(kVersion) || head.size() < kVersion.size() + 3) return std::nullopt;
  AnswerHead answer;
  const char* status = head.data() + kVersion.size();
  if (std::from_chars(status, status + 3, answer.status).ptr != status + 3) return std::nullopt;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    if (const auto value = value_of(line, "transfer-encoding")) {
      answer.is_chunked = *value == "chunked";
    }
    if (const auto value = value_of(line, "content-length")) {
      std::uint64_t length = 0;
      const auto parsed = std::from_chars(value->data(), value->data() + value->size(), length);
      if (parsed.ec != std::errc{}) return std::nullopt;
      answer.length = length;
    }
  }
  return answer;
}

}  // namespace

int connect_to(const std::string& host, std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("http_load: socket: {}", std::strerror(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    die("http_load: --host wants an IPv4 address, not '{}'", host);
  }
  // The socket interface takes every address family through this one cast.
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    die("http_load: connect to {}:{}: {}", host, port, std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) die("http_load: fcntl: {}", std::strerror(errno));
  return fd;
}

Connection::~Connection() {
  if (fd_ >= 0) ::close(fd_);
}

Connection::Step Connection::start(const Outgoing& request, Nanos started) {
  request_head_ = request.head;
  body_source_ = request.body;
  head_sent_ = 0;
  body_to_send_ = request.body_bytes;
  body_sent_ = 0;
  head_used_ = 0;
  in_body_ = false;
  is_chunked_ = false;
  idle_ = false;
  started_ = started;
  return send_rest() ? Step::waiting : fail("the connection broke while sending");
}

Connection::Step Connection::advance(std::uint64_t expected, std::uint64_t& received) {
  if (!send_rest()) return fail("the connection broke while sending");
  if (!in_body_) {
    const Step step = receive_head(expected, received);
    if (step != Step::waiting || !in_body_) return step;
  }
  return is_chunked_ ? receive_chunks(expected, received) : receive_body(received);
}

Connection::Step Connection::fail(std::string_view why) {
  fmt::print(stderr, "http_load: {}\n", why);
  ::close(fd_);
  fd_ = -1;
  return Step::failed;
}

Connection::Step Connection::complete() {
  idle_ = true;
  return Step::completed;
}

bool Connection::send_rest() {
  while (head_sent_ < request_head_.size() || body_sent_ < body_to_send_) {
    const bool in_head = head_sent_ < request_head_.size();
    const std::size_t offset = in_head ? head_sent_ : body_sent_ % body_source_.size();
    const std::string_view source = in_head ? std::string_view(request_head_) : body_source_;
    std::size_t size = source.size() - offset;
    if (!in_head) size = std::min<std::uint64_t>(size, body_to_send_ - body_sent_);
    const int more = in_head && body_to_send_ > 0 ? MSG_MORE : 0;
    const ssize_t sent = ::send(fd_, source.data() + offset, size, MSG_NOSIGNAL | more);
    if (sent < 0) return errno == EAGAIN;
    (in_head ? head_sent_ : body_sent_) += static_cast<std::size_t>(sent);
  }
  return true;
}

Connection::Step Connection::receive_head(std::uint64_t expected, std::uint64_t& received) {
  const std::size_t room = head_.size() - head_used_;
  const ssize_t got = ::recv(fd_, head_.data() + head_used_, room, 0);
  if (got <= 0) return got < 0 && errno == EAGAIN ? Step::waiting : fail("closed before a head");
  head_used_ += static_cast<std::size_t>(got);
  const std::string_view seen(head_.data(), head_used_);
  const std::size_t end = seen.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return head_used_ < head_.size() ? Step::waiting : fail("the answer's head is too long");
  }
  const auto answer = parse_head(seen.substr(0, end + 2));
  if (!answer) return fail("the answer's head is malformed");
  const bool has_body = body_to_send_ > 0;
  const bool accepted =
      answer->status == 200 || answer->status == 206 || (has_body && answer->status / 100 == 2);
  if (!accepted) {
    return fail(fmt::format("status {}: {}", answer->status, seen.substr(end + 4, 300)));
  }
  if (body_sent_ < body_to_send_) return fail("answered before the body was sent");
  in_body_ = true;
  if (answer->is_chunked) {
    is_chunked_ = true;
    chunks_ = ChunkedBody();
    return take_chunks(seen.substr(end + 4), expected, received);
  }
  if (!answer->length && answer->status != 204) return fail("no Content-Length");
  const std::uint64_t length = answer->length.value_or(0);
  const std::uint64_t early = head_used_ - end - 4;
  if (early > length) return fail("more bytes than Content-Length says");
  if (expected != kAnyLength && expected != length) return fail("unexpected Content-Length");
  received += early;
  body_left_ = length - early;
  return body_left_ == 0 ? complete() : Step::waiting;
}

Connection::Step Connection::receive_body(std::uint64_t& received) {
  const ssize_t got = ::recv(fd_, nullptr, body_left_, MSG_TRUNC);
  if (got <= 0) return got < 0 && errno == EAGAIN ? Step::waiting : fail("closed within a body");
  received += static_cast<std::uint64_t>(got);
  body_left_ -= static_cast<std::uint64_t>(got);
  return body_left_ == 0 ? complete() : Step::waiting;
}

Connection::Step Connection::receive_chunks(std::uint64_t expected, std::uint64_t& received) {
  // One thread, and nothing is kept between calls: all connections share it.
  static std::vector<char> buffer(kChunkBufferBytes);
  for (;;) {
    const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (got <= 0) return got < 0 && errno == EAGAIN ? Step::waiting : fail("closed within a body");
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    const Step step = take_chunks(bytes, expected, received);
    if (step != Step::waiting || bytes.size() < buffer.size()) return step;
  }
}

Connection::Step Connection::take_chunks(std::string_view bytes, std::uint64_t expected,
                                         std::uint64_t& received) {
  const std::uint64_t before = chunks_.size_bytes();
  if (!chunks_.feed(bytes)) return fail("the chunks of the answer are broken");
  received += chunks_.size_bytes() - before;
  if (!chunks_.has_ended()) return Step::waiting;
  if (expected != kAnyLength && expected != chunks_.size_bytes()) {
    return fail(fmt::format("the answer has {} bytes, not {}", chunks_.size_bytes(), expected));
  }
  return complete();
}

}  // namespace leat::benchmarks
