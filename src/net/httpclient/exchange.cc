#include "httpclient/exchange.h"

#include <array>

#include "http1/chunked.h"
#include "httpclient/readable.h"

namespace leat::httpclient {

Exchange::Exchange(Connection& connection, const Request& request)
    : connection_(connection),
      request_(request),
      asked_(http1::method_from(request.method)),
      parser_(connection.context().options.head) {}

rt::Task<void> Exchange::run(std::string_view head) {
  const auto* bytes = std::get_if<Bytes>(&request_.body);
  const bool has_body = !std::holds_alternative<std::monostate>(request_.body);
  if (bytes != nullptr && !request_.expect_continue) {
    std::array<Bytes, 2> pieces = {as_bytes(head), *bytes};
    LEAT_CO_TRY(const bool answered, co_await send_piece(pieces));
    sent_all_ = !answered;
  } else {
    std::array<Bytes, 1> pieces = {as_bytes(head)};
    LEAT_CO_TRY(const bool answered, co_await send_piece(pieces));
    sent_all_ = !answered && !has_body;
    if (!answered && has_body) LEAT_CO_DO(co_await send_body());
  }
  while (!has_final_) {
    LEAT_CO_TRY(has_final_, co_await read_one_head());
  }
  co_return Status{};
}

rt::Task<void> Exchange::send_body() {
  if (request_.expect_continue) {
    LEAT_CO_TRY(const bool refused, co_await wait_for_continue());
    if (refused) co_return Status{};
  }
  bool answered = false;
  if (const auto* bytes = std::get_if<Bytes>(&request_.body)) {
    std::array<Bytes, 1> pieces = {*bytes};
    LEAT_CO_TRY(answered, co_await send_piece(pieces));
  } else {
    LEAT_CO_TRY(answered, co_await send_streamed(std::get<StreamedBody>(request_.body)));
  }
  sent_all_ = !answered;
  co_return Status{};
}

rt::Task<bool> Exchange::send_streamed(const StreamedBody& body) {
  std::uint64_t sent = 0;
  while (true) {
    LEAT_CO_TRY(const Bytes bytes, co_await body.source->next());
    if (bytes.empty()) break;
    sent += bytes.size();
    if (body.length && sent > *body.length) {
      co_return fail(Errc::internal, "a body is longer than declared");
    }
    bool answered = false;
    if (body.length) {
      std::array<Bytes, 1> pieces = {bytes};
      LEAT_CO_TRY(answered, co_await send_piece(pieces));
    } else {
      const http1::ChunkHead chunk(bytes.size());
      std::array<Bytes, 3> pieces = {as_bytes(chunk.text()), bytes, as_bytes(http1::kChunkEnd)};
      LEAT_CO_TRY(answered, co_await send_piece(pieces));
    }
    if (answered) co_return true;
  }
  if (body.length) {
    if (sent < *body.length) co_return fail(Errc::corrupt, "a body ended before its length");
    co_return false;
  }
  std::array<Bytes, 1> pieces = {as_bytes(http1::kLastChunk)};
  co_return co_await send_piece(pieces);
}

// While the server does not take our bytes, it may be because it has said all it wants to say.
rt::Task<bool> Exchange::send_piece(std::span<Bytes> pieces) {
  pieces = io::drop_front(pieces, 0);
  while (!pieces.empty()) {
    auto sent = connection_.stream().try_write(pieces, io::Flush::now);
    if (sent) {
      pieces = io::drop_front(pieces, *sent);
      continue;
    }
    const bool blocked = sent.error().code() == Errc::would_block;
    auto heard = connection_.try_fill();
    if (heard && *heard) {
      LEAT_CO_TRY(has_final_, co_await read_one_head());
      if (has_final_) co_return true;
      continue;
    }
    if (!blocked) co_return fail(std::move(sent).error());
    if (!heard) co_return fail(std::move(heard).error());
    LEAT_CO_DO(co_await connection_.wait(io::Interest::write, request_.deadline));
  }
  co_return false;
}

// A server that does not know the expectation stays silent: then the body is sent all the same.
rt::Task<bool> Exchange::wait_for_continue() {
  Context& context = connection_.context();
  const Instant now = context.clock.now();
  const Instant limit = std::min(request_.deadline, now + context.options.continue_timeout);
  while (true) {
    auto heard = connection_.try_fill();
    if (!heard) co_return fail(std::move(heard).error());
    if (*heard) {
      LEAT_CO_TRY(has_final_, co_await read_one_head());
      if (has_final_) co_return true;
      if (answer_->head.status == 100) co_return false;
      continue;
    }
    LEAT_CO_TRY(const bool readable, co_await readable_before(context.shard, context.clock,
                                                              connection_.shared_stream(), limit));
    if (!readable) co_return false;
  }
}

rt::Task<bool> Exchange::read_one_head() {
  while (true) {
    const std::string_view text = as_text(connection_.unread());
    heard_something_ = heard_something_ || !text.empty();
    LEAT_CO_TRY(const std::size_t size, parser_.parse(text, asked_, answer_->head));
    if (size > 0) {
      answer_->own(text.substr(0, size));
      connection_.consume(size);
      break;
    }
    LEAT_CO_DO(co_await connection_.fill(request_.deadline));
  }
  if (!answer_->head.interim()) co_return true;
  if (++interim_ > kInterimMax) co_return fail(Errc::io, "too many interim answers");
  co_return false;
}

}  // namespace leat::httpclient
