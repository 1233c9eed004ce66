#include "support/http_world.h"

#include <array>

namespace leat::testing {
namespace {

constexpr Duration kDrainLimit = std::chrono::seconds(5);
const io::Address kServer{"server", 80};

}  // namespace

Result<std::optional<http::Operation>> NamedRouter::route(const http1::RequestHead& head) const {
  for (std::size_t i = 0; i < http::kOperationCount; ++i) {
    const auto operation = static_cast<http::Operation>(i);
    if (head.path.substr(1) == http::name_of(operation)) return operation;
  }
  return std::nullopt;
}

std::expected<http::Credentials, http::Refusal> NamedAuthenticator::authenticate(
    const http1::RequestHead& head, const io::Address&) const {
  const std::string_view name = head.headers.find("x-auth").value_or("admin_token");
  for (std::size_t i = 0; i < http::kAuthKindCount; ++i) {
    const auto kind = static_cast<http::AuthKind>(i);
    if (name == http::name_of(kind)) return kind;
  }
  return fail(Errc::denied, "wrong credentials");
}

HttpWorld::HttpWorld(HttpWorldOptions given)
    : options(std::move(given)),
      world(options.seed, options.world),
      logger(std::make_unique<log::Logger>(sink, world.clock("server"),
                                           log::Options{.level = options.log_level})),
      metrics(registry),
      watchdog(world.clock("server"), kWatchPeriod),
      head_buffers(kHeadBufferBytes, options.head_buffers),
      body_buffers(kBodyBufferBytes, options.body_buffers),
      dispatcher(options.authenticator != nullptr ? *options.authenticator : named_authenticator),
      context{.shard = world.shard(),
              .options = options.server,
              .dispatcher = dispatcher,
              .clock = world.clock("server"),
              .watchdog = watchdog,
              .file_io = world.file_io("server"),
              .head_buffers = head_buffers,
              .body_buffers = body_buffers,
              .metrics = metrics,
              .logger = *logger,
              .next_request_id = 1},
      server(std::make_unique<http::Server>(context, nullptr)) {
  watchdog.on_look([this](Instant now) { http::relieve(context, now); });
  dispatcher.add_router(options.router != nullptr ? *options.router : named_router);
  world.network("client");
  server->serve(world.network("server").listen(kServer).value());
  world.spawn(watchdog.run(), [](const Status&) {});
}

HttpWorld::~HttpWorld() {
  stop();
}

void HttpWorld::handle(http::Operation operation, ScriptedHandler::Script script) {
  handlers_.push_back(std::make_unique<ScriptedHandler>(std::move(script)));
  dispatcher.set_handler(operation, *handlers_.back());
}

void HttpWorld::stop() {
  if (!server) return;
  const Status drained = world.run(server->drain(kDrainLimit), std::chrono::minutes(1));
  EXPECT_TRUE(drained) << drained.error().message() << "\n" << world.describe();
  EXPECT_EQ(server->connections(), 0U);
  EXPECT_EQ(metrics.connections.value(), 0);
  EXPECT_EQ(head_buffers.in_use(), 0U);
  server.reset();
  watchdog.stop();
  EXPECT_TRUE(world.run_until_idle()) << world.describe();
  EXPECT_EQ(body_buffers.in_use(), 0U);
}

std::string HttpWorld::take_log() {
  stop();
  logger.reset();
  return sink.text;
}

RawClient::RawClient(HttpWorld& http, bool reads) : http_(http), state_(std::make_shared<State>()) {
  auto connected = http.world.run(http.world.network("client").connect(kServer));
  if (!connected) return;
  state_->stream = std::move(*connected);
  if (reads) start_reading();
}

void RawClient::start_reading() {
  if (state_->reading || !state_->stream) return;
  state_->reading = true;
  http_.world.spawn(read_on(state_), [](const Status&) {});
}

RawClient& RawClient::send(std::string_view bytes) {
  state_->unsent.append(bytes);
  if (state_->writing || !state_->stream) return *this;
  state_->writing = true;
  http_.world.spawn(write_on(state_), [](const Status&) {});
  return *this;
}

void RawClient::finish() {
  state_->finishing = true;
  if (!state_->writing && state_->stream) state_->stream->finish_writing();
}

void RawClient::leave() {
  // Running tasks hold the state; an ended wait lets them go, and with the last one the stream.
  if (state_->stream) state_->stream->interrupt(Errc::cancelled);
  auto gone = std::make_shared<State>();
  gone->received = state_->received;
  state_ = std::move(gone);
}

rt::Task<void> RawClient::read_on(std::shared_ptr<State> state) {
  std::array<std::byte, 16 * 1024> buffer;
  while (true) {
    auto count = co_await io::read_some(*state->stream, buffer);
    if (count && *count > 0) {
      state->received += as_text(Bytes(buffer).first(*count));
      continue;
    }
    state->ended = count || count.error().code() == Errc::closed;
    state->was_reset = !count && state->ended;
    co_return Status{};
  }
}

rt::Task<void> RawClient::write_on(std::shared_ptr<State> state) {
  while (!state->unsent.empty()) {
    const Bytes piece = as_bytes(state->unsent);
    auto count = state->stream->try_write(std::span(&piece, 1), io::Flush::now);
    if (count) {
      state->unsent.erase(0, *count);
    } else if (count.error().code() == Errc::would_block) {
      LEAT_CO_DO(co_await state->stream->wait(io::Interest::write));
    } else {
      break;
    }
  }
  state->writing = false;
  if (state->finishing) state->stream->finish_writing();
  co_return Status{};
}

bool RawClient::wait_answers(std::size_t count, std::string_view bodiless, Duration limit) {
  std::size_t seen = 0;  // the size at the last look, so that answers are not split at every step
  bool there = false;
  const auto enough = [&] {
    if (state_->received.size() == seen) return there;
    seen = state_->received.size();
    std::size_t final = 0;
    for (const Answer& answer : answers(bodiless).whole) {
      final += answer.status >= 200 ? 1 : 0;
    }
    there = final >= count;
    return there;
  };
  return http_.world.run_until(enough, limit);
}

bool RawClient::wait_end(Duration limit) {
  return http_.world.run_until([this] { return ended(); }, limit);
}

Answer RawClient::ask(std::string_view request, std::string_view bodiless) {
  state_->received.clear();
  send(request);
  if (!wait_answers(1, bodiless, std::chrono::minutes(2))) {
    ADD_FAILURE() << "no answer to:\n" << request.substr(0, 200) << "\nbut: " << received();
    return {};
  }
  return answers(bodiless).whole.back();
}

}  // namespace leat::testing
