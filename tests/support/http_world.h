// HttpWorld: a whole HTTP server and its clients in a simulated world, on virtual time.
//
// Requests name what they want: the path "/read_file" is Operation::read_file whatever the method,
// and "x-auth: anonymous|same_machine|admin_token|wrong" says who asks (admin_token without it).
// Modules with routers and authenticators of their own pass them in.
//
// When the world ends it drains the server and fails the test if a connection or a buffer is left.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "http/relief.h"
#include "http/server.h"
#include "sim/world.h"
#include "support/answers.h"

namespace leat::testing {

class NamedRouter final : public http::Router {
 public:
  Result<std::optional<http::Operation>> route(const http1::RequestHead& head) const override;
  std::string_view allowed(const http1::RequestHead&) const override { return ""; }
};

class NamedAuthenticator final : public http::Authenticator {
 public:
  std::expected<http::Credentials, http::Refusal> authenticate(
      const http1::RequestHead& head, const io::Address& peer) const override;
};

// A handler made of a function that returns a task.
class ScriptedHandler final : public http::Handler {
 public:
  using Script = std::function<rt::Task<http::Response>(http::Exchange&)>;
  explicit ScriptedHandler(Script script) : script_(std::move(script)) {}
  rt::Task<http::Response> handle(http::Exchange& exchange) override { return script_(exchange); }

 private:
  Script script_;
};

// Keeps log lines in memory. The logger's thread writes; read it after the logger is gone.
class MemorySink final : public log::Sink {
 public:
  Status write(std::string_view lines) override {
    text.append(lines);
    return {};
  }
  std::string text;
};

struct HttpWorldOptions {
  std::uint64_t seed = 1;
  sim::WorldOptions world;
  http::ServerOptions server;
  std::size_t head_buffers = 64;
  std::size_t body_buffers = 8;
  log::Level log_level = log::Level::error;
  const http::Router* router = nullptr;                // NamedRouter without it
  const http::Authenticator* authenticator = nullptr;  // NamedAuthenticator without it
};

class HttpWorld {
 public:
  static constexpr Duration kWatchPeriod = std::chrono::milliseconds(100);
  static constexpr std::size_t kHeadBufferBytes = 36 * 1024;
  static constexpr std::size_t kBodyBufferBytes = 64 * 1024;

  explicit HttpWorld(HttpWorldOptions options = {});
  HttpWorld(const HttpWorld&) = delete;
  HttpWorld& operator=(const HttpWorld&) = delete;
  ~HttpWorld();

  void handle(http::Operation operation, ScriptedHandler::Script script);
  void handle(http::Operation operation, http::Handler& handler) {
    dispatcher.set_handler(operation, handler);
  }

  // Drains, then checks that nothing is left. The world's end does it, too.
  void stop();

  // The log so far; ends the logger.
  std::string take_log();

  HttpWorldOptions options;
  sim::SimWorld world;
  NamedRouter named_router;
  NamedAuthenticator named_authenticator;
  MemorySink sink;
  std::unique_ptr<log::Logger> logger;
  metrics::Registry registry;
  http::ServerMetrics metrics;
  io::Watchdog watchdog;
  io::BufferPool head_buffers;
  io::BufferPool body_buffers;
  http::Dispatcher dispatcher;
  http::ServerContext context;
  std::unique_ptr<http::Server> server;

 private:
  std::vector<std::unique_ptr<ScriptedHandler>> handlers_;
};

// One connection, byte by byte as the test wants it. Lifetime: the HttpWorld outlives it.
class RawClient {
 public:
  // Connects; `reads` = false leaves the server's bytes unread.
  explicit RawClient(HttpWorld& http, bool reads = true);
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { leave(); }

  // Queues bytes; they go out while the world runs.
  RawClient& send(std::string_view bytes);
  // Says that nothing more will come, and goes on reading.
  void finish();
  // Closes the connection at once, whatever is on its way.
  void leave();
  void start_reading();

  bool is_connected() const { return state_->stream != nullptr; }
  const std::string& received() const { return state_->received; }
  // The server ended its side, cleanly or by a reset.
  bool ended() const { return state_->ended; }
  bool was_reset() const { return state_->was_reset; }
  // All that was sent has left.
  bool sent_all() const { return state_->unsent.empty(); }

  // Runs the world until so many final answers are there (true) or the limit passes.
  bool wait_answers(std::size_t count, std::string_view bodiless = "",
                    Duration limit = std::chrono::seconds(5));
  bool wait_end(Duration limit = std::chrono::seconds(5));

  // Sends a request and waits for its only answer; status 0 if there is none.
  Answer ask(std::string_view request, std::string_view bodiless = "");
  Answers answers(std::string_view bodiless = "") const {
    return split_answers(state_->received, bodiless);
  }

 private:
  struct State {
    std::unique_ptr<io::Stream> stream;
    std::string received;
    std::string unsent;
    bool writing = false;
    bool reading = false;
    bool finishing = false;
    bool ended = false;
    bool was_reset = false;
  };
  static rt::Task<void> read_on(std::shared_ptr<State> state);
  static rt::Task<void> write_on(std::shared_ptr<State> state);

  HttpWorld& http_;
  std::shared_ptr<State> state_;
};

}  // namespace leat::testing
