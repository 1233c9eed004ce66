// Exchange: sends one request on a connection and reads the head of its answer.
//
// A server may answer before it has read the whole body: then the rest is not sent, the answer
// counts, and the connection is of no more use. Interim answers (1xx) are skipped.
//
// Shard: the client's. Lifetime: connection, head text and body outlive it.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "http1/response_head.h"
#include "httpclient/answer.h"
#include "httpclient/connection.h"
#include "httpclient/request.h"

namespace leat::httpclient {

class Exchange {
 public:
  static constexpr int kInterimMax = 16;

  Exchange(Connection& connection, const Request& request);

  // Errors: closed, io (not HTTP), timeout, what the body's source answers, internal and corrupt
  // (the source is longer or shorter than declared).
  rt::Task<void> run(std::string_view head);

  // Some byte of an answer has arrived.
  bool heard_something() const { return heard_something_; }
  // The whole request was sent: the server knows where the next one begins.
  bool sent_all() const { return sent_all_; }

  // Requires: run() has succeeded.
  std::unique_ptr<Answer> take_answer() { return std::move(answer_); }

 private:
  // These three answer true when the final answer has come, so that sending ends.
  rt::Task<bool> send_piece(std::span<Bytes> pieces);
  rt::Task<bool> wait_for_continue();
  rt::Task<bool> read_one_head();

  rt::Task<void> send_body();
  rt::Task<bool> send_streamed(const StreamedBody& body);

  Connection& connection_;
  const Request& request_;
  http1::Method asked_;
  http1::ResponseParser parser_;
  std::unique_ptr<Answer> answer_ = std::make_unique<Answer>();
  int interim_ = 0;
  bool heard_something_ = false;
  bool has_final_ = false;
  bool sent_all_ = false;
};

}  // namespace leat::httpclient
