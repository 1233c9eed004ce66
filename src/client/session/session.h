// Session: connections to one service from a program whose threads are its own.
//
//   LEAT_TRY(auto session, Session::open(settings, {}));
//   LEAT_TRY(auto head, session->run<ObjectHead>([](S3Client& c) { return head_object(c, name);
//   }));
//
// Shards with their threads start with the first run() or open_link(); until then a session is
// memory alone. Safe from any thread that is no shard's.
// Lifetime: links are stopped, and no run() is under way, when it is destroyed.
#pragma once

#include <memory>

#include "io/rng.h"
#include "io/tcp_network.h"
#include "io/watchdog.h"
#include "rt/monitor.h"
#include "rt/runtime.h"
#include "s3client/s3client.h"
#include "session/settings.h"
#include "tls/client_tls.h"

namespace leat::session {

// True when the process ends: sessions have no threads any more, since the libraries that these use
// are taken apart now. Who waits for one of them would wait for ever.
bool is_process_ending();

struct SessionOptions {
  std::uint32_t io_threads = 1;
  Duration patience = std::chrono::seconds(30);  // for a service that was there
  bool uses_local_files = true;                  // of a node on the same machine
};

// A client of its own on one shard: who stops it disturbs nobody else.
class Link {
 public:
  // Lifetime: all outlive it.
  Link(rt::Shard& shard, io::Clock& clock, io::Rng& rng, const s3client::ServiceOptions& service);
  // Requires: stop() was called.
  ~Link() = default;

  rt::Shard& shard() { return shard_; }
  s3client::S3Client& client() { return client_; }
  io::Watchdog& watchdog() { return watchdog_; }

  // All three from a thread that is no shard's.
  Status start();
  // What waits for the service ends with Errc::cancelled.
  Status interrupt();
  // Returns when nothing of it runs any more. Requires: no task uses the client, or will end soon.
  void stop();

 private:
  friend class Session;

  // On the shard: what stop() waits for.
  rt::Task<void> end();

  rt::Shard& shard_;
  io::TcpNetwork network_;
  io::Watchdog watchdog_;
  s3client::S3Client client_;
  bool watchdog_ended_ = false;  // the shard's
  rt::Resume<void> ending_{};    // who waits for that
};

class Session {
 public:
  // Reaches nobody. Errors: those of reading certificates.
  static Result<std::shared_ptr<Session>> open(
      ServiceSettings settings, SessionOptions options,
      const std::function<Result<std::string>(const std::string& path)>& read_text);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs a task that `make` gives for the session's own client, and waits for its answer. A service
  // that falls silent is asked again on another connection, several times within the patience.
  template <class T, class Make>
  Result<T> run(Make make) {
    LEAT_TRY(const Own own, own_links());
    return run_on<T>(*own.reads, std::move(make));
  }
  // The same for what a service may work on for a while before it says a word.
  template <class T, class Make>
  Result<T> run_long(Make make) {
    LEAT_TRY(const Own own, own_links());
    return run_on<T>(*own.calls, std::move(make));
  }

  // A client that asks again by itself, as the session's own does.
  Result<std::unique_ptr<Link>> open_link();
  // Clients that ask once and leave it to their user to ask again within their patience, one for
  // each shard.
  Result<std::vector<std::unique_ptr<Link>>> open_links(Duration patience);

  // Stops a link without waiting for it: that takes until the next look at its deadlines, which is
  // long for who comes back for the next epoch. Requires: as Link::stop().
  void retire(std::unique_ptr<Link> link);

  // Ends its threads where they are: what they do is not brought to an end. For the process's end.
  void halt();

  io::RealClock& clock() { return clock_; }
  const SessionOptions& options() const { return options_; }
  const ServiceSettings& settings() const { return settings_; }

 private:
  struct Running {
    std::unique_ptr<rt::Runtime> runtime{};
    std::unique_ptr<Link> reads{};
    std::unique_ptr<Link> calls{};
  };
  struct Own {
    Link* reads = nullptr;
    Link* calls = nullptr;
  };

  template <class T, class Make>
  static Result<T> run_on(Link& link, Make make) {
    return rt::run_and_wait<T>(
        link.shard(), [&link, make = std::move(make)]() mutable { return make(link.client()); });
  }

  Session(ServiceSettings settings, SessionOptions options)
      : settings_(std::move(settings)), options_(options) {}

  Result<Own> own_links();
  Status start(Running& running);
  s3client::ServiceOptions service() const;
  // Of clients that ask again by themselves. `silence`: how long no byte may come.
  s3client::ServiceOptions patient_service(Duration silence) const;

  ServiceSettings settings_;
  SessionOptions options_;
  io::RealClock clock_;
  io::SystemRng rng_;
  std::optional<tls::ClientTls> tls_;
  std::shared_ptr<std::atomic<bool>> was_answered_ = std::make_shared<std::atomic<bool>>(false);
  rt::Monitor<std::size_t> retiring_{0U};  // links
  rt::Monitor<Running> running_;
};

}  // namespace leat::session
