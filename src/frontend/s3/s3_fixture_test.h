// S3Test: the S3 API on a simulated network and simulated disks, and the words to ask it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/encoding.h"
#include "http1/grammar.h"
#include "http1/uri.h"
#include "s3/s3.h"
#include "sigv4/sign.h"
#include "support/http_world.h"
#include "support/store_world.h"

namespace leat::s3 {

using Reply = testing::Answer;  // s3::Answer is what operations return
using testing::RawClient;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kEmpty;

class NoRouter final : public http::Router {
 public:
  Result<std::optional<http::Operation>> route(const http1::RequestHead&) const override {
    return std::nullopt;
  }
  std::string_view allowed(const http1::RequestHead&) const override { return ""; }
};

class StrangersOnly final : public http::Authenticator {
 public:
  std::expected<http::Credentials, http::Refusal> authenticate(const http1::RequestHead& head,
                                                               const io::Address&) const override {
    const auto field = head.headers.find(http1::Header::authorization);
    if (field == "Bearer the-token") return http::Credentials(http::AuthKind::admin_token);
    if (field) return std::unexpected(http::Refusal(Error(Errc::unauthenticated, "wrong")));
    return http::Credentials(http::AuthKind::same_machine);
  }
};

inline std::string between(const std::string& text, const std::string& before,
                           const std::string& after) {
  const std::size_t begin = text.find(before);
  if (begin == text.npos) return "(none)";
  const std::size_t end = text.find(after, begin + before.size());
  return text.substr(begin + before.size(), end - begin - before.size());
}

inline std::string element(const Reply& answer, const std::string& name) {
  return between(answer.body, "<" + name + ">", "</" + name + ">");
}

inline std::vector<std::string> elements(const Reply& answer, const std::string& name) {
  std::vector<std::string> found;
  const std::regex pattern("<" + name + ">([^<]*)</" + name + ">");
  for (auto at = std::sregex_iterator(answer.body.begin(), answer.body.end(), pattern);
       at != std::sregex_iterator(); ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

inline std::string code(const Reply& answer) {
  return fmt::format("{} {}", answer.status, element(answer, "Code"));
}

inline std::string listing(const std::vector<std::pair<int, std::string>>& parts) {
  std::string body = "<CompleteMultipartUpload>";
  for (const auto& [number, etag] : parts)
    body += fmt::format("<Part><ETag>{}</ETag><PartNumber>{}</PartNumber></Part>", etag, number);
  return body + "</CompleteMultipartUpload>";
}

class S3Test : public ::testing::Test {
 protected:
  S3Test() {
    EXPECT_TRUE(rig_.open());
    indexes_.emplace(rig_.store(), 16 * kMiB);
    EXPECT_TRUE(rig_.disk(0).make_directories("/node"));
    const auto first = keys_.open(0);
    keys_.add(http_.world.shard(), pool_);
    signer_ = {.access_key = (*first)->id, .secret = (*first)->secret, .region = "leat"};
    api_ = std::make_unique<S3Api>(S3Api::Parts{.store = rig_.store(),
                                                .indexes = *indexes_,
                                                .keys = keys_.on(http_.world.shard()),
                                                .token = token_,
                                                .clock = http_.world.clock("server"),
                                                .logger = *http_.logger,
                                                .options = {}});
    api_->install(http_.dispatcher);
    EXPECT_EQ(ask("PUT", "/photos").status, 200);
  }
  ~S3Test() override { http_.stop(); }

  static testing::HttpWorldOptions http_options(const http::Router& router) {
    testing::HttpWorldOptions options;
    options.router = &router;
    return options;
  }

  WallTime now() { return http_.world.clock("server").wall_now(); }

  sigv4::Signer key_with(std::vector<keys::Rule> rules) {
    keys::NewKey wanted{.name = "test", .rules = std::move(rules)};
    const auto made = http_.world.run(keys_.create(wanted, http_.world.shard()));
    return {.access_key = made->id, .secret = made->secret, .region = "leat"};
  }

  Reply send(std::string_view method, std::string_view target, const Fields& fields,
             std::string_view body) {
    RawClient client(http_);
    std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, target);
    for (const auto& [name, value] : fields)
      text += name + ": " + value + "\r\n";
    const bool has_length = text.find("Transfer-Encoding") != text.npos;
    if (!has_length && (method == "PUT" || method == "POST" || !body.empty()))
      text += fmt::format("Content-Length: {}\r\n", body.size());
    return client.ask(text + "\r\n" + std::string(body), method == "HEAD" ? "H" : "");
  }

  // What `signer` signs, and what it adds.
  Fields signed_fields(const sigv4::Signer& signer, std::string_view method,
                       const std::string& target, Fields fields, const std::string& word) {
    fields.insert(fields.begin(), {"Host", "server"});
    const std::size_t mark = std::min(target.find('?'), target.size());
    sigv4::Request request{.method = method,
                           .path = http1::percent_decode(target.substr(0, mark)).value()};
    request.query = http1::parse_query(target.substr(std::min(mark + 1, target.size()))).value();
    for (const auto& [name, value] : fields)
      request.headers.push_back({name, value});
    for (auto& added : sigv4::sign_headers(request, signer, word, now()))
      fields.push_back(std::move(added));
    return fields;
  }

  // Signed by `signer`, with the hash of `body` or the word that is given.
  Reply ask_as(const sigv4::Signer& signer, std::string_view method, const std::string& target,
               const Fields& fields = {}, std::string_view body = "", std::string word = "") {
    if (word.empty()) word = to_hex(hash::Sha256::of(as_bytes(body)));
    return send(method, target, signed_fields(signer, method, target, fields, word), body);
  }
  // The head of a request with that body, which is for the caller to send.
  std::string signed_head(std::string_view method, const std::string& target, std::string_view body,
                          const Fields& fields = {}) {
    return signed_head(method, target, body, signer_, fields);
  }
  std::string signed_head(std::string_view method, const std::string& target, std::string_view body,
                          const sigv4::Signer& signer, const Fields& fields = {}) {
    const std::string word = to_hex(hash::Sha256::of(as_bytes(body)));
    std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, target);
    for (const auto& [name, value] : signed_fields(signer, method, target, fields, word))
      text += name + ": " + value + "\r\n";
    return text + fmt::format("Content-Length: {}\r\n\r\n", body.size());
  }
  Reply ask(std::string_view method, const std::string& target, const Fields& fields = {},
            std::string_view body = "") {
    return ask_as(signer_, method, target, fields, body);
  }
  Reply put(const std::string& key, std::string_view body, const Fields& fields = {}) {
    return ask("PUT", "/photos/" + key, fields, body);
  }
  std::size_t objects() {
    return rig_.run(rig_.store().counts(rig_.store().find_bucket("photos")->id))->objects;
  }

  NoRouter router_;
  StrangersOnly token_;
  testing::HttpWorld http_{http_options(router_)};
  test::StoreWorld rig_{http_.world, *http_.logger, 2};
  std::optional<shards::ShardIndexes> indexes_;  // of the open store
  io::SeededRng rng_{7};
  rt::BlockingPool pool_{"sim", 0, 16};
  keys::KeyStore keys_{rig_.disk(0), rng_, "/node/keys.json"};
  sigv4::Signer signer_;
  std::unique_ptr<S3Api> api_;
};

}  // namespace leat::s3
