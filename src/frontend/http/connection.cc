#include "http/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "http/sender.h"
#include "http1/head_writer.h"

namespace leat::http {
namespace {

bool may_have_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

std::optional<std::uint64_t> length_of(const Response& response) {
  if (response.declared_length) return response.declared_length;
  if (const auto* memory = std::get_if<MemoryBody>(&response.body)) return memory->bytes.size();
  if (const auto* file = std::get_if<FileBody>(&response.body)) return file->length;
  if (const auto* stream = std::get_if<StreamBody>(&response.body)) return stream->length;
  return 0;
}

// The client is gone or hopeless: there is nobody to answer.
bool is_gone(Errc code) {
  return code == Errc::closed || code == Errc::cancelled;
}

}  // namespace

rt::Task<void> Connection::serve() {
  while (true) {
    LEAT_CO_TRY(const bool has_request, co_await read_head());
    if (!has_request) co_return Status{};
    LEAT_CO_TRY(const bool reusable, co_await answer());
    if (!reusable) co_return co_await linger();
    turn_.answered();
    if (turn_.is_over()) LEAT_CO_DO(co_await turn_.pass());
  }
}

void Connection::prepare_buffer() {
  const Bytes unread = input_.unread();
  if (unread.empty()) {
    input_ = {};
    buffer_ = {};
  } else {
    std::memmove(input_.bytes.data(), unread.data(), unread.size());
    input_.begin = 0;
    input_.end = unread.size();
  }
}

rt::Task<bool> Connection::read_head() {
  prepare_buffer();
  const bool pipelined = input_.size() > 0;
  if (!pipelined) {
    if (context_.draining) {
      // The answer before was promised to be not the last one, so requests may be on their way.
      LEAT_CO_DO(co_await linger());
      co_return false;
    }
    watch_.allow_idle(context_.options.idle_timeout);
    Status readable = co_await stream_.wait(io::Interest::read);
    if (!readable) co_return false;  // idle too long, or draining: nobody loses anything
    buffer_ = context_.head_buffers.try_acquire();
    if (!buffer_) {
      LEAT_CO_DO(co_await refuse(Error(Errc::busy, "too many requests at once")));
      co_return false;
    }
    input_ = InputBuffer{.bytes = buffer_.bytes()};
  }
  watch_.allow(context_.options.head_timeout);
  while (true) {
    if (input_.size() > 0) {
      auto parsed = parser_.parse(as_text(input_.unread()), head_);
      if (!parsed) {
        context_.metrics.malformed_requests.add();
        LEAT_CO_DO(co_await refuse(std::move(parsed).error()));
        co_return false;
      }
      if (*parsed > 0) {
        input_.begin += *parsed;
        co_return true;
      }
    }
    // The parser refuses a head before it outgrows the buffer, so there is room.
    auto got = stream_.try_read(input_.bytes.subspan(input_.end));
    if (got) {
      if (*got == 0) co_return false;
      input_.end += *got;
    } else if (got.error().code() == Errc::would_block) {
      turn_.renew();
      Status readable = co_await stream_.wait(io::Interest::read);
      if (!readable && readable.error().code() == Errc::timeout) {
        context_.metrics.client_timeouts.add();
        Error slow(Errc::timeout, "the request took too long to arrive");
        LEAT_CO_DO(co_await refuse(std::move(slow)));
      }
      if (!readable) co_return false;
    } else {
      co_return false;
    }
  }
}

rt::Task<bool> Connection::answer() {
  watch_.pause();
  const Instant began = context_.clock.now();
  request_id_ = context_.next_request_id++;
  Pace pace(context_.options, watch_);
  BodyReader body(stream_, input_, pace, head_);
  // A body that is sent piece by piece may ask it who the caller is until the last one.
  std::optional<Exchange> exchange;
  Response response(500);
  auto decision = context_.dispatcher.decide(head_, stream_.peer());
  if (decision) {
    exchange.emplace(Exchange{.head = head_,
                              .peer = stream_.peer(),
                              .is_encrypted = stream_.is_encrypted(),
                              .body = body,
                              .operation = decision->operation,
                              .auth = decision->credentials.kind,
                              .request_id = request_id_,
                              .proof = std::move(decision->credentials.proof)});
    auto handled = co_await decision->handler->handle(*exchange);
    context_.metrics.received_bytes.add(body.received_bytes());
    if (!handled && is_gone(handled.error().code())) co_return fail(std::move(handled).error());
    response = handled ? std::move(*handled) : Response::of_error(handled.error());
    if (!handled && handled.error().code() == Errc::timeout) context_.metrics.client_timeouts.add();
  } else {
    response = context_.dispatcher.refuse(decision.error(), head_, request_id_);
  }
  bool body_is_read = body.finished() && !body.continue_is_owed();
  if (!body_is_read) {
    LEAT_CO_TRY(body_is_read, co_await discard(body));
  }
  if (!length_of(response) && head_.version == http1::Version::http10) {
    // It does not know chunks, and a body that ends with the connection cannot be told from a cut
    // one.
    response = Response::of_error(Error(Errc::version_not_supported, "this answer needs HTTP/1.1"));
  }
  pace.let_go();  // whatever the handler read into is its own again
  Sender sender(context_, stream_, pace, turn_);
  const bool is_head = head_.method == http1::Method::head;
  if (!is_head && sender.begins_cold(response)) {
    Status ready = co_await sender.prepare(response);
    if (!ready) response = refusal_of(ready.error());
  }
  const bool reusable = head_.keep_alive && body_is_read && !context_.draining;
  write_head(response, reusable);
  const bool head_only = is_head || !may_have_body(response.status());
  Status sent;
  if (head_only || !sender.try_send_now(out_, response)) {
    sent = co_await sender.send(out_, response, head_only);
  }
  report(decision ? &decision->operation : nullptr, response, began, sent);
  if (!sent) co_return fail(std::move(sent).error());
  co_return reusable;
}

// The body could not even be begun.
Response Connection::refusal_of(const Error& error) {
  context_.logger.error("cannot read what was asked for",
                        {{"request", request_id_}, {"path", head_.path}, {"error", error}});
  return Response::of_error(error);
}

// A body nobody wanted is read to its end when it is short, so that the next request can follow.
rt::Task<bool> Connection::discard(BodyReader& body) {
  if (body.is_broken() || body.continue_is_owed()) co_return false;
  if (body.finished()) co_return true;
  const auto left = body.left_bytes();
  if (left.value_or(0) > context_.options.discard_max_bytes) co_return false;
  std::array<std::byte, 4096> trash;
  std::uint64_t read_bytes = 0;
  while (!body.finished() && read_bytes <= context_.options.discard_max_bytes) {
    auto got = co_await body.read(trash);
    if (!got) co_return false;
    read_bytes += *got;
  }
  co_return body.finished();
}

rt::Task<void> Connection::refuse(Error error) {
  Response response = Response::of_error(error);
  request_id_ = context_.next_request_id++;
  // What the views show is of the request before, in a buffer that may be somebody else's by now.
  head_.method_text = {};
  head_.path = {};
  Pace pace(context_.options, watch_);
  write_head(response, /*keep_alive=*/false);
  Sender sender(context_, stream_, pace, turn_);
  context_.logger.debug("request refused",
                        {{"peer", stream_.peer().to_string()}, {"error", error}});
  const Instant began = context_.clock.now();
  Status sent = co_await sender.send(out_, response, /*head_only=*/false);
  report(nullptr, response, began, sent);
  co_return co_await linger();
}

// Closing while the client still sends would reset the connection and could destroy our last answer
// on its way. So we say that we are done, and listen for a moment longer.
rt::Task<void> Connection::linger() {
  stream_.finish_writing();
  watch_.allow(std::chrono::seconds(2));
  std::array<std::byte, 4096> trash;
  for (int reads = 0; reads < 256;) {
    auto got = stream_.try_read(trash);
    if (got && *got == 0) break;
    if (got) {
      ++reads;
    } else if (got.error().code() == Errc::would_block) {
      Status readable = co_await stream_.wait(io::Interest::read);
      if (!readable) break;
    } else {
      break;
    }
  }
  co_return Status{};
}

void Connection::write_head(const Response& response, bool keep_alive) {
  out_.clear();
  http1::ResponseHeadWriter head(out_, response.status());
  out_.append("Date: ").append(context_.date.at(context_.clock.wall_now())).append("\r\n");
  fmt::format_to(std::back_inserter(out_), FMT_STRING("x-leat-request-id: {:016x}\r\n"),
                 request_id_);
  if (!keep_alive) {
    out_.append("Connection: close\r\n");
  } else if (head_.version == http1::Version::http10) {
    out_.append("Connection: keep-alive\r\n");
  }
  out_.append(response.fields());
  if (may_have_body(response.status())) {
    if (const auto length = length_of(response)) {
      head.field("Content-Length", *length);
    } else {
      out_.append("Transfer-Encoding: chunked\r\n");
    }
  }
  head.finish();
}

void Connection::report(const Operation* operation, const Response& response, Instant began,
                        const Status& sent) {
  const Duration took = context_.clock.now() - began;
  context_.metrics.answered(operation, response.status(), took);
  if (!sent && sent.error().code() == Errc::timeout) {
    context_.metrics.client_timeouts.add();
  } else if (!sent && !is_gone(sent.error().code())) {
    context_.metrics.broken_responses.add();
    context_.logger.error(
        "answer broken off",
        {{"request", request_id_}, {"path", head_.path}, {"error", sent.error()}});
  }
  if (!context_.logger.enabled(log::Level::debug)) return;
  context_.logger.debug("request", {{"request", request_id_},
                                    {"method", head_.method_text},
                                    {"path", head_.path},
                                    {"status", response.status()},
                                    {"took", took}});
}

}  // namespace leat::http
