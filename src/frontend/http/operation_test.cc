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
  std::array<bool, kAuthKindCount> permitted;  // in the order of AuthKind
};
constexpr std::array<Row, kOperationCount> kTable = {{
    {Operation::health, {true, true, true, true}},
    {Operation::ready, {true, true, true, true}},
    {Operation::version, {true, true, true, true}},
    {Operation::metrics, {false, true, true, false}},
    {Operation::read_file, {true, true, true, true}},
    {Operation::write_file, {false, false, true, false}},
    {Operation::delete_file, {false, false, true, false}},
    {Operation::list_buckets, {false, false, true, false}},
    {Operation::create_bucket, {false, false, true, false}},
    {Operation::remove_bucket, {false, false, true, false}},
    {Operation::list_objects, {false, false, true, false}},
    {Operation::read_object, {false, false, true, false}},
    {Operation::write_object, {false, false, true, false}},
    {Operation::remove_object, {false, false, true, false}},
    {Operation::change_object, {false, false, true, false}},
    {Operation::list_disks, {false, true, true, false}},
    {Operation::add_disk, {false, false, true, false}},
    {Operation::remove_disk, {false, false, true, false}},
    {Operation::list_keys, {false, false, true, false}},
    {Operation::create_key, {false, false, true, false}},
    {Operation::remove_key, {false, false, true, false}},
    {Operation::read_batch, {false, false, true, true}},
    {Operation::list_datasets, {false, false, true, true}},
    {Operation::read_dataset, {true, false, true, true}},
    {Operation::write_dataset, {false, false, true, true}},
    {Operation::open_local, {false, false, true, true}},
    {Operation::s3_list_buckets, {false, false, true, true}},
    {Operation::s3_create_bucket, {false, false, true, true}},
    {Operation::s3_head_bucket, {true, false, true, true}},
    {Operation::s3_delete_bucket, {false, false, true, true}},
    {Operation::s3_get_bucket_location, {true, false, true, true}},
    {Operation::s3_list_objects, {true, false, true, true}},
    {Operation::s3_list_objects_v2, {true, false, true, true}},
    {Operation::s3_list_uploads, {true, false, true, true}},
    {Operation::s3_list_versions, {true, false, true, true}},
    {Operation::s3_get_versioning, {false, false, true, true}},
    {Operation::s3_put_versioning, {false, false, true, true}},
    {Operation::s3_get_public_access_block, {false, false, true, true}},
    {Operation::s3_put_public_access_block, {false, false, true, true}},
    {Operation::s3_delete_public_access_block, {false, false, true, true}},
    {Operation::s3_get_etag_kind, {false, false, true, true}},
    {Operation::s3_put_etag_kind, {false, false, true, true}},
    {Operation::s3_get_durability, {false, false, true, true}},
    {Operation::s3_put_durability, {false, false, true, true}},
    {Operation::s3_get_undo_window, {false, false, true, true}},
    {Operation::s3_put_undo_window, {false, false, true, true}},
    {Operation::s3_get_bucket_tagging, {false, false, true, true}},
    {Operation::s3_put_bucket_tagging, {false, false, true, true}},
    {Operation::s3_delete_bucket_tagging, {false, false, true, true}},
    {Operation::s3_get_object, {true, false, true, true}},
    {Operation::s3_head_object, {true, false, true, true}},
    {Operation::s3_get_attributes, {true, false, true, true}},
    {Operation::s3_read_shard, {true, false, true, true}},
    {Operation::s3_list_members, {true, false, true, true}},
    {Operation::s3_put_object, {true, false, true, true}},
    {Operation::s3_copy_object, {true, false, true, true}},
    {Operation::s3_delete_object, {true, false, true, true}},
    {Operation::s3_delete_objects, {true, false, true, true}},
    {Operation::s3_create_upload, {true, false, true, true}},
    {Operation::s3_upload_part, {true, false, true, true}},
    {Operation::s3_upload_part_copy, {true, false, true, true}},
    {Operation::s3_complete_upload, {true, false, true, true}},
    {Operation::s3_abort_upload, {true, false, true, true}},
    {Operation::s3_list_parts, {true, false, true, true}},
    {Operation::s3_get_tagging, {true, false, true, true}},
    {Operation::s3_put_tagging, {true, false, true, true}},
    {Operation::s3_delete_tagging, {true, false, true, true}},
    {Operation::s3_get_bucket_policy, {false, false, true, true}},
    {Operation::s3_put_bucket_policy, {false, false, true, true}},
    {Operation::s3_delete_bucket_policy, {false, false, true, true}},
    {Operation::s3_get_bucket_policy_status, {false, false, true, true}},
    {Operation::s3_get_cors, {false, false, true, true}},
    {Operation::s3_put_cors, {false, false, true, true}},
    {Operation::s3_delete_cors, {false, false, true, true}},
    {Operation::s3_get_lifecycle, {false, false, true, true}},
    {Operation::s3_put_lifecycle, {false, false, true, true}},
    {Operation::s3_delete_lifecycle, {false, false, true, true}},
    {Operation::s3_get_bucket_acl, {false, false, true, true}},
    {Operation::s3_put_bucket_acl, {false, false, true, true}},
    {Operation::s3_get_object_acl, {true, false, true, true}},
    {Operation::s3_put_object_acl, {true, false, true, true}},
    {Operation::s3_preflight, {true, true, true, true}},
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

// Who has proved nothing may yet; who has proved who it is may not.
int status_of_refusal(AuthKind who) {
  return who == AuthKind::access_key ? 403 : 401;
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

TEST_F(AllPairs, Abuse09AHandlerRunsIfAndOnlyIfItsPairIsPermitted) {
  for (const Row& row : kTable) {
    for (std::size_t kind = 0; kind < kAuthKindCount; ++kind) {
      const auto who = static_cast<AuthKind>(kind);
      seen = {};
      RawClient client(http);
      const int status = client.ask(request_for(row.operation, name_of(who))).status;
      const bool permitted = row.permitted[kind];
      EXPECT_EQ(seen.calls, permitted ? 1 : 0) << name_of(row.operation) << " by " << name_of(who);
      EXPECT_EQ(status, permitted ? 204 : status_of_refusal(who))
          << name_of(row.operation) << " by " << name_of(who);
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
      const auto who = static_cast<AuthKind>(kind);
      const int status = client.ask(request_for(row.operation, name_of(who))).status;
      EXPECT_EQ(status, row.permitted[kind] ? 501 : status_of_refusal(who))
          << name_of(row.operation) << " by " << name_of(who);
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

rt::Task<Response> no_content() {
  co_return Response(204);
}

// A protocol of its own: it proves with a number, and refuses in its own words.
class OwnRouter final : public Router {
 public:
  std::string_view allowed(const http1::RequestHead&) const override { return "GET"; }
  Result<std::optional<Operation>> route(const http1::RequestHead& head) const override {
    if (!head.path.starts_with("/own")) return std::nullopt;
    if (head.method != http1::Method::get) return fail(Errc::method_not_allowed);
    return Operation::s3_list_buckets;
  }
  Response refuse(const Refusal& refusal, const http1::RequestHead&,
                  std::uint64_t request_id) const override {
    const auto* words = static_cast<const std::string*>(refusal.words.get());
    std::string text = words != nullptr ? *words : refusal.error.message();
    Response response = Response::text(418, "text/plain", std::move(text));
    response.add_checked("own-id: " + std::to_string(request_id) + "\r\n");
    return response;
  }
};

class OwnAuthenticator final : public Authenticator {
 public:
  std::expected<Credentials, Refusal> authenticate(const http1::RequestHead& head,
                                                   const io::Address&) const override {
    const auto word = head.headers.find("own-word");
    if (!word) return Credentials(AuthKind::anonymous);
    if (*word == "good") return Credentials(AuthKind::access_key, std::make_shared<int>(42));
    return std::unexpected(Refusal(Error(Errc::denied), std::make_shared<std::string>("no!")));
  }
};

TEST(Dispatcher, AProtocolKeepsItsProofForItsHandlersAndRefusesInItsOwnWords) {
  const OwnRouter router;
  const OwnAuthenticator authenticator;
  testing::HttpWorldOptions options;
  options.router = &router;
  HttpWorld http(options);
  http.dispatcher.set_authenticator(authenticator);
  int proved = 0;
  http.handle(Operation::s3_list_buckets, [&proved](Exchange& exchange) {
    proved = *static_cast<const int*>(exchange.proof.get());
    return no_content();
  });
  const auto ask = [&http](std::string_view method, std::string_view path,
                           std::string_view fields) {
    RawClient client(http);
    return client.ask(std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: s\r\n" +
                      std::string(fields) + "\r\n");
  };
  EXPECT_EQ(ask("GET", "/own", "own-word: good\r\n").status, 204);
  EXPECT_EQ(proved, 42);
  const auto wrong = ask("GET", "/own", "own-word: bad\r\n");
  EXPECT_EQ(wrong.status, 418);
  EXPECT_EQ(wrong.body, "no!");
  EXPECT_EQ(std::stoull(wrong.field("own-id")),
            std::stoull(wrong.field("x-leat-request-id"), nullptr, 16));
  EXPECT_EQ(ask("PUT", "/own", "own-word: bad\r\n").body, "no!")
      << "what a path takes is not told to who shows wrong credentials";
  EXPECT_EQ(ask("PUT", "/own", "").status, 418);
  EXPECT_EQ(ask("GET", "/own", "").status, 418) << "a stranger";
  EXPECT_EQ(ask("GET", "/elsewhere", "").status, 404) << "nobody's: in the common words";
}

}  // namespace
}  // namespace leat::http
