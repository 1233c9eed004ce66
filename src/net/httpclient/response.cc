#include "httpclient/response.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "httpclient/pool.h"

namespace leat::httpclient {

using http1::BodyEnd;

Response::Response(std::unique_ptr<Connection> connection, std::unique_ptr<Answer> answer,
                   bool reusable, Instant deadline)
    : connection_(std::move(connection)),
      answer_(std::move(answer)),
      deadline_(deadline),
      // After 101 the connection speaks something else.
      reusable_(reusable && answer_->head.keep_alive && answer_->head.status >= 200) {
  const http1::ResponseHead& head = answer_->head;
  if (head.body_end == BodyEnd::chunked)
    decoder_ = std::make_unique<http1::ChunkedDecoder>(Errc::io);
  if (head.body_end == BodyEnd::length) left_ = *head.content_length;
  const bool is_empty = head.body_end == BodyEnd::length && left_ == 0;
  if (head.body_end == BodyEnd::none || is_empty) finish();
}

Response::~Response() = default;

const http1::HeaderBlock* Response::trailers() const {
  return decoder_ && decoder_->finished() ? &decoder_->trailers() : nullptr;
}

// Bytes after the answer belong to nobody: who sends them cannot be trusted with another request.
void Response::finish() {
  finished_ = true;
  auto connection = std::exchange(connection_, nullptr);
  if (reusable_ && connection->unread().empty()) {
    Pool& pool = connection->pool();
    pool.give_back(std::move(connection));
  }
}

rt::Task<std::size_t> Response::read(MutableBytes target) {
  if (finished_ || target.empty()) co_return std::size_t{0};
  if (!connection_) co_return fail(Errc::closed, "the response broke off before");
  auto count = co_await read_some(target);
  if (!count) connection_.reset();
  co_return count;
}

rt::Task<std::size_t> Response::read_some(MutableBytes target) {
  if (deadline_ <= connection_->context().clock.now()) {
    co_return fail(Errc::timeout, "the request's deadline has passed");
  }
  if (decoder_) co_return co_await read_chunked(target);
  co_return co_await read_plain(target);
}

rt::Task<std::size_t> Response::read_plain(MutableBytes target) {
  const bool has_length = answer_->head.body_end == BodyEnd::length;
  if (has_length) target = target.first(std::min<std::uint64_t>(target.size(), left_));
  const Bytes unread = connection_->unread();
  std::size_t count = std::min(unread.size(), target.size());
  if (count > 0) {
    std::memcpy(target.data(), unread.data(), count);
    connection_->consume(count);
  } else {
    LEAT_CO_TRY(count, co_await connection_->receive(target, deadline_));
  }
  if (count == 0 && has_length) {
    co_return fail(Errc::closed, "the server closed before the end of its answer");
  }
  if (has_length) left_ -= count;
  const bool is_end = has_length ? left_ == 0 : count == 0;
  if (is_end) finish();
  co_return count;
}

rt::Task<std::size_t> Response::read_chunked(MutableBytes target) {
  while (payload_.empty()) {
    if (connection_->unread().empty()) LEAT_CO_DO(co_await connection_->fill(deadline_));
    LEAT_CO_TRY(const auto step, decoder_->step(connection_->unread()));
    connection_->consume(step.consumed);
    payload_ = step.payload;
    if (step.finished) {
      finish();
      co_return std::size_t{0};
    }
  }
  const std::size_t count = std::min(target.size(), payload_.size());
  std::memcpy(target.data(), payload_.data(), count);
  payload_ = payload_.subspan(count);
  co_return count;
}

rt::Task<std::string> Response::read_all(std::size_t max_bytes) {
  constexpr std::size_t kStepBytes = 16 * 1024;
  std::string body;
  if (left_ > max_bytes) co_return fail(Errc::too_large, "the body is larger than wanted");
  body.reserve(left_ + kStepBytes);
  while (true) {
    const std::size_t size = body.size();
    body.resize(size + kStepBytes);
    const MutableBytes room = std::as_writable_bytes(std::span(body)).subspan(size);
    LEAT_CO_TRY(const std::size_t count, co_await read(room));
    body.resize(size + count);
    if (count == 0) co_return body;
    if (body.size() > max_bytes) {
      co_return fail(Errc::too_large, "the body is larger than wanted");
    }
  }
}

}  // namespace leat::httpclient
