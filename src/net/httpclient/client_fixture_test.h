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
      : world_(seed),
        server_(world_, {"server", 80}),
        watchdog_(world_.clock("client"), std::chrono::milliseconds(100)),
        client_(world_.shard(), world_.network("client"), world_.clock("client"), watchdog_,
                options) {
    world_.spawn(watchdog_.run(), [](const Status&) {});
    world_.spawn(client_.run(), [](const Status&) {});
  }

  void TearDown() override {
    EXPECT_TRUE(world_.run(client_.stop()));
    EXPECT_EQ(client_.stats().connections, 0U);
    EXPECT_EQ(client_.stats().idle, 0U);
    EXPECT_EQ(client_.stats().waiting, 0U);
  }

  static Request get(std::string target = "/") {
    return {.method = "GET", .address = {"server", 80}, .target = std::move(target)};
  }

  Result<Outcome> run(Request request) { return world_.run(fetch(client_, std::move(request))); }

  // "200 body", or the name of the error.
  std::string tell(Request request) { return tell(run(std::move(request))); }
  static std::string tell(const Result<Outcome>& result) {
    if (!result) return std::string(traits(result.error().code()).name);
    return std::to_string(result->status) + " " + result->body;
  }

  sim::SimWorld world_;
  ScriptedServer server_;
  io::Watchdog watchdog_;
  Client client_;
};

}  // namespace leat::httpclient
