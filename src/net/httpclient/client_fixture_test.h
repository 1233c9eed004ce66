// A world with a client, its watchdog and a scripted server, for the tests of this module.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "httpclient/scripted_server_test.h"

namespace leat::httpclient {

// What is left of an exchange when it is over.
struct Outcome {
  int status = 0;
  std::string body;
  std::string trailer;  // of the field "x-sum"
};

inline rt::Task<Outcome> fetch(Client& client, Request request) {
  LEAT_CO_TRY(Response response, co_await client.send(std::move(request)));
  Outcome outcome;
  outcome.status = response.status();
  LEAT_CO_TRY(outcome.body, co_await response.read_all(1 << 20));
  if (response.trailers() != nullptr) {
    outcome.trailer = response.trailers()->find("x-sum").value_or("");
  }
  co_return outcome;
}

class ClientTest : public ::testing::Test {
 protected:
  explicit ClientTest(Options options = {}, std::uint64_t seed = 5)
      : world(seed),
        server(world, {"server", 80}),
        watchdog(world.clock("client"), std::chrono::milliseconds(100)),
        client(world.shard(), world.network("client"), world.clock("client"), watchdog, options) {
    world.spawn(watchdog.run(), [](const Status&) {});
    world.spawn(client.run(), [](const Status&) {});
  }

  void TearDown() override {
    EXPECT_TRUE(world.run(client.stop()));
    EXPECT_EQ(client.stats().connections, 0U);
    EXPECT_EQ(client.stats().idle, 0U);
    EXPECT_EQ(client.stats().waiting, 0U);
  }

  static Request get(std::string target = "/") {
    return {.method = "GET", .address = {"server", 80}, .target = std::move(target)};
  }

  Result<Outcome> run(Request request) { return world.run(fetch(client, std::move(request))); }

  // "200 body", or the name of the error.
  std::string tell(Request request) { return tell(run(std::move(request))); }
  static std::string tell(const Result<Outcome>& result) {
    if (!result) return std::string(traits(result.error().code()).name);
    return std::to_string(result->status) + " " + result->body;
  }

  sim::SimWorld world;
  ScriptedServer server;
  io::Watchdog watchdog;
  Client client;
};

}  // namespace leat::httpclient
