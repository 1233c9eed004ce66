#include "session/session.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <set>

#include "base/check.h"
#include "hash/digest.h"

namespace leat::session {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(50);
constexpr Duration kWaitMax = std::chrono::seconds(1);
constexpr std::size_t kConnectionsMax = 64;
// How long a service may be silent while it is read from: long enough for a busy one, short enough
// that a connection that goes nowhere is given up while there is patience for others.
constexpr Duration kReadSilenceMin = std::chrono::seconds(2);
constexpr Duration kReadSilenceMax = std::chrono::seconds(10);
constexpr int kReadTries = 3;
// While it may work on something: a commit of millions of samples, or the sync of gigabytes.
constexpr Duration kCallSilenceMin = std::chrono::seconds(10);
constexpr Duration kCallSilenceMax = std::chrono::minutes(2);
constexpr std::string_view kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";

Duration read_silence(Duration patience) {
  return std::clamp(patience / kReadTries, kReadSilenceMin, kReadSilenceMax);
}

Duration call_silence(Duration patience) {
  return std::clamp(patience, kCallSilenceMin, kCallSilenceMax);
}

// Sessions whose threads run, for the end of the process: there is no other place that is told of
// it. OpenSSL takes itself apart then, while other libraries may still take their time, and a
// thread that signs a request in between would crash.
struct Live {
  std::atomic<pid_t> process{0};  // whose they are: a forked child has none of the threads
  std::atomic<bool> is_ending{false};
  rt::Monitor<std::set<Session*>> sessions{};
};

// Never destroyed: the end of the process looks at it.
Live& live() {
  static auto* const found = new Live;
  return *found;
}

void halt_all() {
  live().is_ending = true;
  if (live().process != getpid()) return;
  live().sessions.with([](std::set<Session*>& sessions) {
    for (Session* const session : sessions)
      session->halt();
    return false;
  });
}

void note_start(Session* session) {
  const pid_t before = live().process.exchange(getpid());
  live().sessions.with([&](std::set<Session*>& sessions) {
    if (before != getpid()) sessions.clear();
    sessions.insert(session);
    return false;
  });
  if (before != 0) return;  // a child has its parent's registration
  // What is registered last is called first: OpenSSL registers its own end when it is used first.
  static_cast<void>(hash::hmac_sha256({}, {}));
  LEAT_CHECK(std::atexit(halt_all) == 0);
}

void note_end(Session* session) {
  live().sessions.with([session](std::set<Session*>& sessions) {
    sessions.erase(session);
    return false;
  });
}

}  // namespace

bool is_process_ending() {
  return live().is_ending;
}

Link::Link(rt::Shard& shard, io::Clock& clock, io::Rng& rng,
           const s3client::ServiceOptions& service)
    : shard_(shard),
      network_(shard, {}),
      watchdog_(clock, kLook),
      client_({shard, network_, clock, watchdog_, rng}, service) {}

Status Link::start() {
  return shard_.deliver([this] {
    shard_.spawn(watchdog_.run(), [this](const Status&) {
      watchdog_ended_ = true;
      if (ending_) ending_(Status{});
    });
    shard_.spawn(client_.run(), [](const Status&) {});
  });
}

Status Link::interrupt() {
  return shard_.deliver([this] { watchdog_.interrupt_all(Errc::cancelled); });
}

rt::Task<void> Link::end() {
  const Status stopped = co_await client_.stop();
  static_cast<void>(stopped);  // it says only that it was stopped before
  watchdog_.stop();
  if (watchdog_ended_) co_return Status{};
  auto ended = rt::suspend<void>([this](rt::Resume<void> resume) { ending_ = std::move(resume); });
  co_return co_await std::move(ended);
}

void Link::stop() {
  const Status ended = rt::run_and_wait<void>(shard_, [this] { return end(); });
  LEAT_CHECK(ended.has_value());
}

Result<std::shared_ptr<Session>> Session::open(
    ServiceSettings settings, SessionOptions options,
    const std::function<Result<std::string>(const std::string& path)>& read_text) {
  auto session = std::shared_ptr<Session>(new Session(std::move(settings), options));
  if (session->settings_.endpoint.is_encrypted) {
    const std::string& file = session->settings_.ca_file;
    LEAT_TRY(const std::string pem,
             read_text(file.empty() ? std::string(kSystemAuthorities) : file));
    LEAT_TRY(auto trusting, tls::ClientTls::trusting_authorities(pem, session->clock_));
    session->tls_.emplace(std::move(trusting));
  }
  return session;
}

void Session::halt() {
  running_.with([](Running& running) {
    if (running.runtime) running.runtime->stop();
    return false;
  });
}

Session::~Session() {
  note_end(this);
  retiring_.wait([](std::size_t links) { return links == 0; }, [](std::size_t) {});
  running_.with([](Running& running) {
    for (const auto& link : {std::ref(running.reads), std::ref(running.calls)})
      if (link.get()) link.get()->stop();
    if (running.runtime) running.runtime->stop();
    running.reads.reset();
    running.calls.reset();
    running.runtime.reset();
    return false;
  });
}

s3client::ServiceOptions Session::service() const {
  s3client::ServiceOptions service{
      .endpoint = settings_.endpoint, .signer = settings_.signer, .tls = tls_ ? &*tls_ : nullptr};
  service.http.connections_max_per_host = kConnectionsMax;
  service.http.idle_max_per_host = kConnectionsMax;
  service.http.period = kLook;
  service.was_answered = was_answered_;
  return service;
}

s3client::ServiceOptions Session::patient_service(Duration silence) const {
  s3client::ServiceOptions asked = service();
  asked.http.silence_timeout = silence;
  // Waits double up to a second, of which three quarters are waited in the mean.
  asked.retry.wait_max = kWaitMax;
  asked.retry.attempts_max = static_cast<std::uint32_t>(5 + options_.patience * 4 / (kWaitMax * 3));
  asked.retry.budget_max = 4000;
  asked.retry.patience = options_.patience;
  return asked;
}

Status Session::start(Running& running) {
  running.runtime = std::make_unique<rt::Runtime>(options_.io_threads);
  running.runtime->start();
  rt::Shard& shard = running.runtime->shard(0);
  const auto reads = patient_service(read_silence(options_.patience));
  const auto calls = patient_service(call_silence(options_.patience));
  running.reads = std::make_unique<Link>(shard, clock_, rng_, reads);
  running.calls = std::make_unique<Link>(shard, clock_, rng_, calls);
  note_start(this);
  LEAT_DO(running.reads->start());
  return running.calls->start();
}

Result<Session::Own> Session::own_links() {
  Result<Own> found;
  running_.with([&](Running& running) {
    if (!running.runtime) {
      if (Status started = start(running); !started) {
        found = fail(std::move(started).error());
        return false;
      }
    }
    found = Own{.reads = running.reads.get(), .calls = running.calls.get()};
    return false;
  });
  return found;
}

Result<std::unique_ptr<Link>> Session::open_link() {
  LEAT_TRY(const Own own, own_links());
  const auto calls = patient_service(call_silence(options_.patience));
  auto link = std::make_unique<Link>(own.calls->shard(), clock_, rng_, calls);
  LEAT_DO(link->start());
  return link;
}

Result<std::vector<std::unique_ptr<Link>>> Session::open_links(Duration patience) {
  LEAT_TRY(const Own own, own_links());
  static_cast<void>(own);
  Result<std::vector<std::unique_ptr<Link>>> links;
  running_.with([&](Running& running) {
    s3client::ServiceOptions asked = service();
    asked.retry.attempts_max = 1;
    asked.http.silence_timeout = read_silence(patience);
    for (std::uint32_t i = 0; i < running.runtime->size(); ++i) {
      auto link = std::make_unique<Link>(running.runtime->shard(i), clock_, rng_, asked);
      if (Status started = link->start(); !started) {
        links = fail(std::move(started).error());
        return false;
      }
      links->push_back(std::move(link));
    }
    return false;
  });
  return links;
}

void Session::retire(std::unique_ptr<Link> link) {
  retiring_.with([](std::size_t& links) {
    ++links;
    return false;
  });
  std::shared_ptr<Link> retired = std::move(link);
  const Status told = retired->shard().deliver([this, retired] {
    retired->shard().spawn(retired->end(), [this, retired](const Status&) mutable {
      retired.reset();
      retiring_.with([](std::size_t& links) { return --links == 0; });
    });
  });
  LEAT_CHECK(told.has_value());
}

}  // namespace leat::session
