#include "http/body_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace leat::http {

BodyReader::BodyReader(io::Stream& stream, InputBuffer& input, Pace& pace,
                       const http1::RequestHead& head)
    : stream_(stream),
      input_(input),
      pace_(pace),
      head_end_(input.begin),
      left_(head.content_length.value_or(0)) {
  if (head.chunked) decoder_.emplace();
  finished_ = !head.chunked && left_ == 0;
  // Also for a body that is empty: clients of the botocore family wait for it, and mistake the next
  // answer on the connection if they do not get it.
  continue_owed_ = head.expects_continue && (!finished_ || head.content_length.has_value());
}

const http1::HeaderBlock& BodyReader::trailers() const {
  static const http1::HeaderBlock kNone{};
  return decoder_ && decoder_->finished() ? decoder_->trailers() : kNone;
}

std::optional<std::uint64_t> BodyReader::left_bytes() const {
  if (decoder_ && !finished_) return std::nullopt;
  return left_;
}

rt::Task<std::size_t> BodyReader::read(MutableBytes target) {
  if (finished_ && continue_owed_) LEAT_CO_DO(co_await give_continue());
  if (finished_ || target.empty()) co_return std::size_t{0};
  if (broken_) co_return fail(Errc::closed, "read after the body was found broken");
  pace_.hold();  // `target` is memory that others may be short of
  auto got = co_await read_some(target);
  broken_ = !got;
  received_bytes_ += got.value_or(0);
  co_return got;
}

rt::Task<std::size_t> BodyReader::read_some(MutableBytes target) {
  if (continue_owed_) LEAT_CO_DO(co_await give_continue());
  if (decoder_) co_return co_await read_chunked(target);
  co_return co_await read_plain(target);
}

rt::Task<void> BodyReader::give_continue() {
  continue_owed_ = false;
  std::array<Bytes, 1> line = {as_bytes("HTTP/1.1 100 Continue\r\n\r\n")};
  std::span<Bytes> pieces = line;
  while (!pieces.empty()) {
    auto sent = stream_.try_write(pieces, io::Flush::now);
    if (sent) {
      pieces = io::drop_front(pieces, *sent);
    } else if (sent.error().code() == Errc::would_block) {
      LEAT_CO_DO(co_await pace_.wait(stream_, io::Interest::write));
    } else {
      co_return fail(std::move(sent).error());
    }
  }
  co_return Status{};
}

rt::Task<std::size_t> BodyReader::read_plain(MutableBytes target) {
  const std::size_t want = std::min<std::uint64_t>(target.size(), left_);
  std::size_t got = take_input(target.first(want));
  if (got == 0) {
    LEAT_CO_TRY(got, co_await receive(target.first(want)));
  }
  left_ -= got;
  finished_ = left_ == 0;
  co_return got;
}

rt::Task<std::size_t> BodyReader::read_chunked(MutableBytes target) {
  while (payload_.empty()) {
    if (input_.size() == 0) {
      input_.begin = input_.end = head_end_;
      LEAT_CO_TRY(const std::size_t got, co_await receive(input_.bytes.subspan(head_end_)));
      input_.end += got;
    }
    LEAT_CO_TRY(const auto step, decoder_->step(input_.unread()));
    input_.begin += step.consumed;
    payload_ = step.payload;
    if (step.finished) {
      finished_ = true;
      co_return std::size_t{0};
    }
  }
  const std::size_t count = std::min(target.size(), payload_.size());
  std::memcpy(target.data(), payload_.data(), count);
  payload_ = payload_.subspan(count);
  co_return count;
}

std::size_t BodyReader::take_input(MutableBytes target) {
  const std::size_t count = std::min(target.size(), input_.size());
  if (count == 0) return 0;
  std::memcpy(target.data(), input_.unread().data(), count);
  input_.begin += count;
  return count;
}

// At least one byte: a client that ends its side in mid-body has left.
rt::Task<std::size_t> BodyReader::receive(MutableBytes target) {
  while (true) {
    auto got = stream_.try_read(target);
    if (got) {
      if (*got == 0) co_return fail(Errc::closed, "the client left before the end of its body");
      pace_.moved(*got);
      co_return *got;
    }
    if (got.error().code() != Errc::would_block) co_return fail(std::move(got).error());
    LEAT_CO_DO(co_await pace_.wait(stream_, io::Interest::read));
  }
}

}  // namespace leat::http
