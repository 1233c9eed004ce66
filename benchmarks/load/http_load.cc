// http_load: keep-alive HTTP/1.1 load from one thread, for benchmarks.
//
// It must never be the limit of what it measures, so it receives bodies by recv(MSG_TRUNC), which
// drops them in the kernel without a copy, and sends from prepared buffers. It checks what costs
// nothing: the status, and that as many bytes came as were promised. The harness verifies content.
//
// With --seconds it measures a window: bytes count when they arrive, requests when they complete.
// With --requests it measures a fixed amount of work, from the first request to the last answer.
// Bytes are those of answers; with --method PUT those of requests.
// The probe is one more connection that asks for a small object at a fixed interval. Its figures
// are corrected for the requests it could not send while it waited, so that stalls count in full.
//
// Output: one line of JSON. Exit code 0 when it ran; requests that failed are counted in the line.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "load/connection.h"
#include "load/die.h"
#include "load/figures.h"
#include "load/load_options.h"

namespace leat::benchmarks {
namespace {

constexpr std::string_view kObjectName = "00000/000";
constexpr std::size_t kSendBufferBytes = std::size_t{4} << 20;

struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
};

class Load {
 public:
  explicit Load(LoadOptions options) : options_(std::move(options)), random_(options_.seed) {
    if (options_.objects > 0) options_.paths.front() += kObjectName;
    for (const std::string& path : options_.paths) {
      requests_.push_back(
          {.head = request_head(options_.put ? "PUT" : "GET", path, options_.body_bytes),
           .body = {}});
    }
    for (RecordedRequest& one : options_.recorded)
      requests_.push_back(std::move(one));
    probe_head_ = request_head("GET", options_.probe_path, 0);
    if (options_.body_bytes > 0) fill_body_source();
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) die("http_load: epoll_create1: {}", std::strerror(errno));
    for (std::size_t i = 0; i < options_.connections; ++i) {
      watch(connections_.emplace_back(connect_to(options_.host, options_.port)));
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
      if (count < 0 && errno != EINTR) die("http_load: epoll_wait: {}", std::strerror(errno));
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
    body_source_ = options_.body;
    if (!body_source_.empty()) return;
    body_source_.resize(std::min<std::uint64_t>(kSendBufferBytes, options_.body_bytes));
    std::mt19937_64 bytes(options_.seed);
    for (char& byte : body_source_)
      byte = static_cast<char>(bytes());
  }

  void watch(Connection& connection) {
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = &connection}};
    if (options_.put || !options_.recorded.empty()) event.events |= EPOLLOUT;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd(), &event);
  }

  void open_probe() {
    watch(probe_.emplace(connect_to(options_.host, options_.port)));
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
    if (options_.put) count_bytes(connection.body_bytes());
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
    const std::uint64_t choices = options_.objects > 0 ? options_.objects : requests_.size();
    const std::uint64_t choice = (options_.random ? random_() : issued_) % choices;
    ++issued_;
    if (options_.objects > 0) name_object(choice);
    const RecordedRequest& request = options_.objects > 0 ? requests_.front() : requests_[choice];
    Outgoing outgoing{
        .head = request.head, .body = body_source_, .body_bytes = options_.body_bytes};
    if (!request.body.empty()) {
      outgoing.body = request.body;
      outgoing.body_bytes = request.body.size();
    }
    if (connection.start(outgoing, time) == Connection::Step::failed) lose();
  }

  // A list of a million heads would cost the client a cache miss a request; a number does not.
  void name_object(std::uint64_t number) {
    std::string& head = requests_.front().head;
    const std::size_t end = head.find(" HTTP/1.1");
    const std::string name = fmt::format("{:05}/{:03}", number / 1000, number % 1000);
    head.replace(end - kObjectName.size(), kObjectName.size(), name);
  }

  void send_probe() {
    if (!probe_->idle()) return;
    const Outgoing outgoing{.head = probe_head_, .body = {}};
    if (probe_->start(outgoing, now()) == Connection::Step::failed) ++errors_;
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

  LoadOptions options_;
  std::mt19937_64 random_;
  std::vector<RecordedRequest> requests_;
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
}  // namespace leat::benchmarks

int main(int argc, char** argv) {
  using namespace leat::benchmarks;
  Load load(parse_options(argc, argv));
  load.run();
  load.report();
  return 0;
}
