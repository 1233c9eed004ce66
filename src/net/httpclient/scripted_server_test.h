// A server for tests that reads and writes what it is told, byte for byte, so that it can be as
// wrong as a test wants. Each accepted connection takes the next script; without one it is held
// open.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "httpclient/client.h"
#include "sim/world.h"
#include "tls/server_tls.h"

namespace leat::httpclient {

struct Step {
  enum class Kind : std::uint8_t { read, send, close };
  Kind kind;
  std::string text;
};

// Reads until `text` has come, once more each time.
inline Step read(std::string text) {
  return {Step::Kind::read, std::move(text)};
}
inline Step read_head() {
  return read("\r\n\r\n");
}
inline Step send(std::string text) {
  return {Step::Kind::send, std::move(text)};
}
inline Step close() {
  return {Step::Kind::close, ""};
}

using Script = std::vector<Step>;

class ScriptedServer {
 public:
  ScriptedServer(sim::SimWorld& world, const io::Address& address,
                 const tls::ServerTls* tls = nullptr)
      : world_(world), tls_(tls), listener_(world.network(address.host).listen(address).value()) {
    world.spawn(accept_all(), [](const Status&) {});
  }

  // For the next connection that nobody has a script for.
  void expect(Script script) { scripts_.push_back(std::move(script)); }
  // For all connections after these.
  void always(Script script) { default_ = std::move(script); }

  std::size_t accepted() const { return received_.size(); }
  // What the nth connection has sent, from 0.
  const std::string& received(std::size_t nth) const { return received_.at(nth); }
  std::size_t open() const { return open_; }
  std::size_t open_most() const { return open_most_; }

 private:
  rt::Task<void> accept_all() {
    while (true) {
      LEAT_CO_TRY(auto stream, co_await listener_->accept());
      Script script = default_;
      if (!scripts_.empty()) {
        script = std::move(scripts_.front());
        scripts_.pop_front();
      }
      std::string& received = received_.emplace_back();
      open_most_ = std::max(open_most_, ++open_);
      world_.spawn(serve(std::move(stream), std::move(script), received),
                   [this](const Status&) { --open_; });
    }
  }

  rt::Task<void> serve(std::unique_ptr<io::Stream> stream, Script script, std::string& received) {
    if (tls_ != nullptr) {
      LEAT_CO_TRY(stream, co_await tls_->accept(std::move(stream)));
    }
    std::size_t used = 0;
    for (const Step& step : script) {
      if (step.kind == Step::Kind::close) co_return Status{};
      if (step.kind == Step::Kind::send) {
        std::array<Bytes, 1> pieces = {as_bytes(step.text)};
        LEAT_CO_DO(co_await io::write_all(*stream, pieces));
        continue;
      }
      while (received.find(step.text, used) == std::string::npos) {
        LEAT_CO_DO(co_await take(*stream, received));
      }
      used = received.find(step.text, used) + step.text.size();
    }
    while (true) {
      LEAT_CO_DO(co_await take(*stream, received));
    }
  }

  rt::Task<void> take(io::Stream& stream, std::string& received) {
    std::vector<std::byte> part(4096);
    LEAT_CO_TRY(const std::size_t count, co_await io::read_some(stream, part));
    if (count == 0) co_return fail(Errc::closed);
    received.append(as_text(Bytes(part).first(count)));
    co_return Status{};
  }

  sim::SimWorld& world_;
  const tls::ServerTls* tls_;
  std::unique_ptr<io::Listener> listener_;
  std::deque<Script> scripts_;
  Script default_;
  std::deque<std::string> received_;
  std::size_t open_ = 0;
  std::size_t open_most_ = 0;
};

}  // namespace leat::httpclient
