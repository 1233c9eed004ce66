// http_load: keep-alive HTTP/1.1 load from one thread, for benchmarks.
//
// It must never be the limit of what it measures, so it receives bodies by recv(MSG_TRUNC), which
// drops them in the kernel without a copy, and sends from one prepared buffer. It checks what costs
// nothing: the status, and that as many bytes came as were promised. The harness verifies content.
//
// With --seconds it measures a window: bytes count when they arrive, requests when they complete.
// With --requests it measures a fixed amount of work, from the first request to the last answer.
// The probe is one more connection that asks for a small object at a fixed interval. Its figures
// are corrected for the requests it could not send while it waited, so that stalls count in full.
//
// Output: one line of JSON. Exit code 0 when it ran; requests that failed are counted in the line.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "load/figures.h"

namespace {

using leat::benchmarks::kSecond;
using leat::benchmarks::Nanos;
using leat::benchmarks::now;
using leat::benchmarks::percentiles_json;

// Longer heads are an error. A small object's head and body fit, so it takes one receive.
constexpr std::size_t kHeadBytesMax = 8192;
constexpr std::uint64_t kAnyLength = UINT64_MAX;
constexpr std::string_view kObjectName = "00000/000";
constexpr std::size_t kSendBufferBytes = std::size_t{4} << 20;

template <class... Args>
[[noreturn]] void die(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "http_load: {}\n", fmt::format(format, std::forward<Args>(args)...));
  std::exit(2);
}

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::size_t connections = 1;
  double seconds = 0;
  double warmup_seconds = 0;
  std::uint64_t requests = 0;
  bool put = false;
  std::vector<std::string> paths;
  bool random = false;
  std::uint64_t seed = 1;
  std::uint64_t body_bytes = 0;
  std::string field;
  std::uint64_t objects = 0;
  std::uint64_t expect_bytes = kAnyLength;
  std::string probe_path;
  double probe_interval_ms = 1;
};

void check(const Options& options) {
  if ((options.seconds > 0) == (options.requests > 0)) die("give either --seconds or --requests");
  if (options.requests > 0 && options.warmup_seconds > 0) die("--warmup goes with --seconds only");
  if (options.put && options.body_bytes == 0) die("PUT needs --body-bytes");
  if (options.paths.empty()) die("--path or --paths-file is required");
  if (options.objects > 0 && options.paths.size() > 1) die("--objects goes with one path");
}

Options parse_options(int argc, char** argv) {
  Options options;
  std::string method = "GET";
  std::string paths_file;
  CLI::App app("keep-alive HTTP/1.1 load from one thread");
  app.add_option("--host", options.host, "IPv4 address");
  app.add_option("--port", options.port)->required();
  app.add_option("--connections", options.connections)->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "length of the measured window");
  app.add_option("--warmup", options.warmup_seconds, "seconds before the window");
  app.add_option("--requests", options.requests, "measure so many requests instead of a window");
  app.add_option("--method", method)->check(CLI::IsMember({"GET", "PUT"}));
  app.add_option("--path", options.paths, "may be repeated");
  app.add_option("--paths-file", paths_file, "one path a line")->check(CLI::ExistingFile);
  app.add_flag("--random", options.random, "choose paths at random instead of in turn");
  app.add_option("--seed", options.seed);
  app.add_option("--body-bytes", options.body_bytes, "size of each PUT");
  app.add_option("--field", options.field, "a header field of each request");
  app.add_option("--objects", options.objects,
                 "so many objects: 00123/456 for number 123456 is added to the one path");
  app.add_option("--expect-bytes", options.expect_bytes, "size each GET must have");
  app.add_option("--probe-path", options.probe_path, "small object the probe asks for");
  app.add_option("--probe-interval-ms", options.probe_interval_ms)->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  options.put = method == "PUT";
  std::ifstream listed(paths_file);
  for (std::string path; std::getline(listed, path);)
    options.paths.push_back(path);
  check(options);
  return options;
}

// What an answer's head says. `length` is absent when the head does not state it.
struct AnswerHead {
  int status = 0;
  std::optional<std::uint64_t> length;
};

std::optional<AnswerHead> parse_head(std::string_view head) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  constexpr std::string_view kLength = "content-length:";
  if (!head.starts_with(kVersion) || head.size() < kVersion.size() + 3) return std::nullopt;
  AnswerHead answer;
  const char* status = head.data() + kVersion.size();
  if (std::from_chars(status, status + 3, answer.status).ptr != status + 3) return std::nullopt;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    if (line.size() <= kLength.size()) continue;
    if (::strncasecmp(line.data(), kLength.data(), kLength.size()) != 0) continue;
    std::string_view value = line.substr(kLength.size());
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    std::uint64_t length = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), length);
    if (parsed.ec != std::errc{}) return std::nullopt;
    answer.length = length;
  }
  return answer;
}

int connect_to(const Options& options) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket: {}", std::strerror(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  if (::inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) {
    die("--host wants an IPv4 address, not '{}'", options.host);
  }
  // The socket interface takes every address family through this one cast.
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    die("connect to {}:{}: {}", options.host, options.port, std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) die("fcntl: {}", std::strerror(errno));
  return fd;
}

// One keep-alive connection with at most one request under way, driven by edge-triggered events: a
// receive that returns less than was asked for has emptied the socket; new bytes raise an event.
class Connection {
 public:
  enum class Step { waiting, completed, failed };

  Connection(int fd, const std::string& body_source) : fd_(fd), body_source_(body_source) {}
  ~Connection() {
    if (fd_ >= 0) ::close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  bool idle() const { return idle_; }
  Nanos started() const { return started_; }

  // Starts a request whose latency counts from `started`.
  Step start(const std::string& head, std::uint64_t body_bytes, Nanos started) {
    request_head_ = head;
    head_sent_ = 0;
    body_to_send_ = body_bytes;
    body_sent_ = 0;
    head_used_ = 0;
    in_body_ = false;
    idle_ = false;
    started_ = started;
    return send_rest() ? Step::waiting : fail("the connection broke while sending");
  }

  // Goes on as far as the socket allows; adds what it received of the body to `received`.
  Step advance(std::uint64_t expected, std::uint64_t& received) {
    if (!send_rest()) return fail("the connection broke while sending");
    if (!in_body_) {
      const Step step = receive_head(expected, received);
      if (step != Step::waiting || !in_body_) return step;
    }
    return receive_body(received);
  }

 private:
  Step fail(std::string_view why) {
    fmt::print(stderr, "http_load: {}\n", why);
    ::close(fd_);
    fd_ = -1;
    return Step::failed;
  }

  Step complete() {
    idle_ = true;
    return Step::completed;
  }

  bool send_rest() {
    while (head_sent_ < request_head_.size() || body_sent_ < body_to_send_) {
      const bool in_head = head_sent_ < request_head_.size();
      const std::size_t offset = in_head ? head_sent_ : body_sent_ % body_source_.size();
      const std::string& source = in_head ? request_head_ : body_source_;
      std::size_t size = source.size() - offset;
      if (!in_head) size = std::min<std::uint64_t>(size, body_to_send_ - body_sent_);
      const int more = in_head && body_to_send_ > 0 ? MSG_MORE : 0;
      const ssize_t sent = ::send(fd_, source.data() + offset, size, MSG_NOSIGNAL | more);
      if (sent < 0) return errno == EAGAIN;
      (in_head ? head_sent_ : body_sent_) += static_cast<std::size_t>(sent);
    }
    return true;
  }

  Step receive_head(std::uint64_t expected, std::uint64_t& received) {
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
    const bool put = body_to_send_ > 0;
    const bool accepted = answer->status == 200 || (put && answer->status / 100 == 2);
    if (!accepted) return fail(fmt::format("status {}", answer->status));
    if (body_sent_ < body_to_send_) return fail("answered before the body was sent");
    if (!answer->length && answer->status != 204) return fail("no Content-Length");
    const std::uint64_t length = answer->length.value_or(0);
    const std::uint64_t early = head_used_ - end - 4;
    if (early > length) return fail("more bytes than Content-Length says");
    if (expected != kAnyLength && expected != length) return fail("unexpected Content-Length");
    received += early;
    body_left_ = length - early;
    in_body_ = true;
    return body_left_ == 0 ? complete() : Step::waiting;
  }

  Step receive_body(std::uint64_t& received) {
    const ssize_t got = ::recv(fd_, nullptr, body_left_, MSG_TRUNC);
    if (got <= 0) return got < 0 && errno == EAGAIN ? Step::waiting : fail("closed within a body");
    received += static_cast<std::uint64_t>(got);
    body_left_ -= static_cast<std::uint64_t>(got);
    return body_left_ == 0 ? complete() : Step::waiting;
  }

  int fd_;
  const std::string& body_source_;
  std::string request_head_;
  std::size_t head_sent_ = 0;
  std::uint64_t body_to_send_ = 0;
  std::uint64_t body_sent_ = 0;
  std::array<char, kHeadBytesMax> head_;
  std::size_t head_used_ = 0;
  std::uint64_t body_left_ = 0;
  bool in_body_ = false;
  bool idle_ = true;
  Nanos started_ = 0;
};

struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
};

class Load {
 public:
  explicit Load(Options options) : options_(std::move(options)), random_(options_.seed) {
    if (options_.objects > 0) options_.paths.front() += kObjectName;
    for (const std::string& path : options_.paths) {
      heads_.push_back(request_head(options_.put ? "PUT" : "GET", path, options_.body_bytes));
    }
    probe_head_ = request_head("GET", options_.probe_path, 0);
    if (options_.put) fill_body_source();
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) die("epoll_create1: {}", std::strerror(errno));
    for (std::size_t i = 0; i < options_.connections; ++i) {
      watch(connections_.emplace_back(connect_to(options_), body_source_));
    }
    alive_ = options_.connections;
    if (!options_.probe_path.empty()) open_probe();
  }
  ~Load() {
    ::close(epoll_);
    if (timer_ >= 0) ::close(timer_);
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  void run() {
    begin_ = now();
    end_ = begin_;
    window_start_ = begin_ + static_cast<Nanos>(options_.warmup_seconds * kSecond);
    measuring_ = window_start_ == begin_;
    for (Connection& connection : connections_)
      next_request(connection, begin_);
    std::array<epoll_event, 256> events;
    while (!finished()) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 10);
      if (count < 0 && errno != EINTR) die("epoll_wait: {}", std::strerror(errno));
      for (int i = 0; i < count; ++i)
        dispatch(events[static_cast<std::size_t>(i)].data.ptr);
      const Nanos time = now();
      if (!measuring_ && time >= window_start_) {
        measuring_ = true;
        window_start_ = time;
      }
    }
    if (options_.seconds > 0) end_ = now();
  }

  void report() {
    const double elapsed = static_cast<double>(end_ - window_start_) / kSecond;
    const double per_second = elapsed > 0 ? 1 / elapsed : 0;
    fmt::print(R"({{"requests":{},"bytes":{},"seconds":{:.6f},"errors":{},"mb_per_s":{:.3f},)"
               R"("requests_per_s":{:.1f},"latency_us":{},"all_requests":{},"all_bytes":{})",
               window_.requests, window_.bytes, elapsed, errors_,
               static_cast<double>(window_.bytes) * per_second / 1e6,
               static_cast<double>(window_.requests) * per_second, percentiles_json(latencies_),
               all_.requests, all_.bytes);
    if (probe_) {
      fmt::print(R"(,"probe":{{"requests":{},"latency_us":{}}})", probe_requests_,
                 percentiles_json(probe_latencies_));
    }
    fmt::print("}}\n");
  }

 private:
  std::string request_head(std::string_view method, std::string_view path,
                           std::uint64_t body) const {
    std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", method, path, options_.host);
    if (method == "PUT") head += fmt::format("Content-Length: {}\r\n", body);
    if (!options_.field.empty()) head += options_.field + "\r\n";
    return head + "\r\n";
  }

  void fill_body_source() {
    body_source_.resize(std::min<std::uint64_t>(kSendBufferBytes, options_.body_bytes));
    std::mt19937_64 bytes(options_.seed);
    for (char& byte : body_source_)
      byte = static_cast<char>(bytes());
  }

  void watch(Connection& connection) {
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = &connection}};
    if (options_.put) event.events |= EPOLLOUT;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd(), &event);
  }

  void open_probe() {
    watch(probe_.emplace(connect_to(options_), body_source_));
    timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    probe_interval_ = static_cast<Nanos>(options_.probe_interval_ms * 1e6);
    const timespec interval{.tv_sec = probe_interval_ / kSecond,
                            .tv_nsec = probe_interval_ % kSecond};
    const itimerspec schedule{.it_interval = interval, .it_value = interval};
    ::timerfd_settime(timer_, 0, &schedule, nullptr);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &timer_}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, timer_, &event);
  }

  bool finished() const {
    if (alive_ == 0) return true;
    if (options_.requests > 0) return all_.requests + errors_ >= options_.requests;
    return measuring_ && now() >= window_start_ + static_cast<Nanos>(options_.seconds * kSecond);
  }

  void dispatch(void* source) {
    if (source == &timer_) {
      std::uint64_t ticks = 0;
      if (::read(timer_, &ticks, sizeof ticks) == sizeof ticks) send_probe();
    } else if (probe_ && source == &*probe_) {
      advance_probe();
    } else {
      advance(*static_cast<Connection*>(source));
    }
  }

  void advance(Connection& connection) {
    if (connection.fd() < 0 || connection.idle()) return;
    const std::uint64_t expected = options_.put ? kAnyLength : options_.expect_bytes;
    std::uint64_t received = 0;
    const Connection::Step step = connection.advance(expected, received);
    if (!options_.put) count_bytes(received);
    if (step == Connection::Step::failed) return lose();
    if (step == Connection::Step::waiting) return;
    const Nanos time = now();
    if (options_.put) count_bytes(options_.body_bytes);
    ++all_.requests;
    end_ = time;
    if (measuring_) {
      ++window_.requests;
      latencies_.push_back(time - connection.started());
    }
    next_request(connection, time);
  }

  void next_request(Connection& connection, Nanos time) {
    if (options_.requests > 0 && issued_ == options_.requests) return;
    const std::uint64_t choices = options_.objects > 0 ? options_.objects : heads_.size();
    const std::uint64_t choice = (options_.random ? random_() : issued_) % choices;
    ++issued_;
    if (options_.objects > 0) name_object(choice);
    const std::string& head = options_.objects > 0 ? heads_.front() : heads_[choice];
    if (connection.start(head, options_.body_bytes, time) == Connection::Step::failed) lose();
  }

  // A list of a million heads would cost the client a cache miss a request; a number does not.
  void name_object(std::uint64_t number) {
    const std::size_t end = heads_.front().find(" HTTP/1.1");
    const std::string name = fmt::format("{:05}/{:03}", number / 1000, number % 1000);
    heads_.front().replace(end - kObjectName.size(), kObjectName.size(), name);
  }

  void send_probe() {
    if (!probe_->idle()) return;
    if (probe_->start(probe_head_, 0, now()) == Connection::Step::failed) ++errors_;
  }

  void advance_probe() {
    if (probe_->fd() < 0 || probe_->idle()) return;
    std::uint64_t received = 0;
    const Connection::Step step = probe_->advance(kAnyLength, received);
    if (step == Connection::Step::failed) ++errors_;
    if (step != Connection::Step::completed || !measuring_) return;
    ++probe_requests_;
    // Those who would have come at the ticks this request sat through count too, each a tick less.
    for (Nanos waited = now() - probe_->started(); waited > 0; waited -= probe_interval_) {
      probe_latencies_.push_back(waited);
    }
  }

  void count_bytes(std::uint64_t bytes) {
    all_.bytes += bytes;
    if (measuring_) window_.bytes += bytes;
  }

  void lose() {
    ++errors_;
    --alive_;
  }

  Options options_;
  std::mt19937_64 random_;
  std::vector<std::string> heads_;
  std::string probe_head_;
  std::string body_source_;
  int epoll_ = -1;
  int timer_ = -1;
  std::deque<Connection> connections_;
  std::optional<Connection> probe_;
  std::size_t alive_ = 0;
  std::uint64_t issued_ = 0;
  std::uint64_t errors_ = 0;
  bool measuring_ = false;
  Nanos begin_ = 0;
  Nanos window_start_ = 0;
  Nanos end_ = 0;
  Nanos probe_interval_ = 0;
  std::uint64_t probe_requests_ = 0;
  Totals window_;
  Totals all_;
  std::vector<Nanos> latencies_;
  std::vector<Nanos> probe_latencies_;
};

}  // namespace

int main(int argc, char** argv) {
  Load load(parse_options(argc, argv));
  load.run();
  load.report();
  return 0;
}
