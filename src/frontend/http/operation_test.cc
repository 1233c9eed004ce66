#include "http/operation.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "support/http_world.h"

namespace leat::http {
namespace {

using testing::HttpWorld;
using testing::RawClient;

// Written by hand, so that a change of the table in operation.cc has to be made, and thought,
// twice.
struct Row {
  Operation operation;
  std::array<bool, kAuthKindCount> permitted;  // anonymous, same_machine, admin_token
};
constexpr std::array<Row, kOperationCount> kTable = {{
    {Operation::health, {true, true, true}},
    {Operation::ready, {true, true, true}},
    {Operation::version, {true, true, true}},
    {Operation::metrics, {false, true, true}},
    {Operation::read_file, {true, true, true}},
    {Operation::write_file, {false, false, true}},
    {Operation::delete_file, {false, false, true}},
    {Operation::list_buckets, {false, false, true}},
    {Operation::create_bucket, {false, false, true}},
    {Operation::remove_bucket, {false, false, true}},
    {Operation::list_objects, {false, false, true}},
    {Operation::read_object, {false, false, true}},
    {Operation::write_object, {false, false, true}},
    {Operation::remove_object, {false, false, true}},
    {Operation::change_object, {false, false, true}},
    {Operation::list_disks, {false, true, true}},
    {Operation::add_disk, {false, false, true}},
    {Operation::remove_disk, {false, false, true}},
}};

TEST(Operation, PermitsExactlyWhatTheTableSays) {
  std::set<Operation> listed;
  for (const Row& row : kTable) {
    listed.insert(row.operation);
    for (std::size_t kind = 0; kind < kAuthKindCount; ++kind) {
      EXPECT_EQ(permits(row.operation, static_cast<AuthKind>(kind)), row.permitted[kind])
          << name_of(row.operation) << " by " << name_of(static_cast<AuthKind>(kind));
    }
  }
  EXPECT_EQ(listed.size(), kOperationCount) << "an operation stands twice, so one is missing";
}

TEST(Operation, EveryOperationAndKindHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    EXPECT_TRUE(names.insert(name_of(static_cast<Operation>(i))).second);
  }
  for (std::size_t i = 0; i < kAuthKindCount; ++i) {
    EXPECT_TRUE(names.insert(name_of(static_cast<AuthKind>(i))).second);
  }
  EXPECT_FALSE(names.contains(""));
}

struct Seen {
  int calls = 0;
  Operation operation{};
  AuthKind auth{};
};

// Notes who called it. Lifetime: `seen` outlives the task.
rt::Task<Response> note(Exchange& exchange, Seen& seen) {
  ++seen.calls;
  seen.operation = exchange.operation;
  seen.auth = exchange.auth;
  co_return Response(204);
}

std::string request_for(Operation operation, std::string_view who) {
  return "GET /" + std::string(name_of(operation)) +
         " HTTP/1.1\r\nHost: server\r\nx-auth: " + std::string(who) + "\r\n\r\n";
}

class AllPairs : public ::testing::Test {
 protected:
  AllPairs() {
    for (const Row& row : kTable) {
      http.handle(row.operation, [this](Exchange& exchange) { return note(exchange, seen); });
    }
  }

  Seen seen;
  HttpWorld http;
};

// Abuse case 9.
TEST_F(AllPairs, AHandlerRunsIfAndOnlyIfItsPairIsPermitted) {
  for (const Row& row : kTable) {
    for (std::size_t kind = 0; kind < kAuthKindCount; ++kind) {
      const auto who = static_cast<AuthKind>(kind);
      seen = {};
      RawClient client(http);
      const int status = client.ask(request_for(row.operation, name_of(who))).status;
      const bool permitted = row.permitted[kind];
      EXPECT_EQ(seen.calls, permitted ? 1 : 0) << name_of(row.operation) << " by " << name_of(who);
      EXPECT_EQ(status, permitted ? 204 : 401) << name_of(row.operation) << " by " << name_of(who);
      if (!permitted) continue;
      EXPECT_EQ(seen.operation, row.operation);
      EXPECT_EQ(seen.auth, who);
    }
  }
}

TEST_F(AllPairs, WrongCredentialsReachNoHandlerNotEvenOnesForEverybody) {
  for (const Row& row : kTable) {
    RawClient client(http);
    EXPECT_EQ(client.ask(request_for(row.operation, "wrong")).status, 403)
        << name_of(row.operation);
  }
  EXPECT_EQ(seen.calls, 0);
}

TEST_F(AllPairs, WrongCredentialsDoNotLearnWhatIsServed) {
  RawClient client(http);
  const auto unknown = client.ask("GET /nothing HTTP/1.1\r\nHost: s\r\nx-auth: wrong\r\n\r\n");
  EXPECT_EQ(unknown.status, 403);
}

TEST_F(AllPairs, WhatNoRouterKnowsIsNotFound) {
  RawClient client(http);
  EXPECT_EQ(client.ask("GET /nothing HTTP/1.1\r\nHost: server\r\n\r\n").status, 404);
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: server\r\n\r\n").status, 404);
  EXPECT_EQ(seen.calls, 0);
}

TEST_F(AllPairs, AMethodNobodyKnowsIsNotImplemented) {
  RawClient client(http);
  EXPECT_EQ(client.ask("BREW /health HTTP/1.1\r\nHost: server\r\n\r\n").status, 501);
  EXPECT_EQ(client.ask("get /health HTTP/1.1\r\nHost: server\r\n\r\n").status, 501);
  EXPECT_EQ(seen.calls, 0);
}

TEST(Dispatcher, AnOperationWithoutAHandlerIsNotImplementedForThoseWhoMayAsk) {
  HttpWorld http;
  for (const Row& row : kTable) {
    for (std::size_t kind = 0; kind < kAuthKindCount; ++kind) {
      RawClient client(http);
      const std::string_view who = name_of(static_cast<AuthKind>(kind));
      EXPECT_EQ(client.ask(request_for(row.operation, who)).status, row.permitted[kind] ? 501 : 401)
          << name_of(row.operation) << " by " << who;
    }
  }
}

// Answers for one path and refuses every method but GET on it.
class PickyRouter final : public Router {
 public:
  std::string_view allowed(const http1::RequestHead&) const override { return "GET"; }
  Result<std::optional<Operation>> route(const http1::RequestHead& head) const override {
    if (head.path != "/health") return std::nullopt;
    if (head.method != http1::Method::get) return fail(Errc::method_not_allowed);
    return Operation::version;
  }
};

TEST_F(AllPairs, RoutersAreAskedInOrderAndTheFirstThatKnowsDecides) {
  const PickyRouter second;
  http.dispatcher.add_router(second);
  RawClient client(http);
  EXPECT_EQ(client.ask("POST /health HTTP/1.1\r\nHost: s\r\n\r\n").status, 204);
  EXPECT_EQ(seen.operation, Operation::health) << "the first router's answer";

  testing::HttpWorldOptions options;
  options.router = &second;
  HttpWorld picky(options);
  picky.dispatcher.add_router(http.named_router);
  picky.handle(Operation::version, [this](Exchange& exchange) { return note(exchange, seen); });
  RawClient other(picky);
  EXPECT_EQ(other.ask("POST /health HTTP/1.1\r\nHost: s\r\n\r\n").status, 405);
  EXPECT_EQ(other.ask("GET /health HTTP/1.1\r\nHost: s\r\n\r\n").status, 204);
  EXPECT_EQ(seen.operation, Operation::version);
}

}  // namespace
}  // namespace leat::http
