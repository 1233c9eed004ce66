#include "http/sender.h"

#include <algorithm>
#include <array>

#include "http1/chunked.h"

namespace leat::http {

rt::Task<void> Sender::send(std::string_view head, Response& response, bool head_only) {
  if (auto* memory = std::get_if<MemoryBody>(&response.body); memory != nullptr && !head_only) {
    std::array<Bytes, 2> pieces = {as_bytes(head), memory->bytes};
    co_return co_await write(io::drop_front(pieces, sent_of_memory_), io::Flush::now);
  }
  const bool has_body = !head_only && !std::holds_alternative<std::monostate>(response.body);
  const auto* file = std::get_if<FileBody>(&response.body);
  // File bytes follow at once. A stream may take its time, or have none.
  const bool follows = has_body && file != nullptr && file->length > 0;
  const io::Flush flush = follows ? io::Flush::more_follows : io::Flush::now;
  std::array<Bytes, 1> pieces = {as_bytes(head)};
  LEAT_CO_DO(co_await write(pieces, flush));
  if (!has_body) co_return Status{};
  if (file != nullptr) co_return co_await send_file(*file);
  co_return co_await send_stream(std::get<StreamBody>(response.body));
}

bool Sender::try_send_now(std::string_view head, const Response& response) {
  const auto* memory = std::get_if<MemoryBody>(&response.body);
  if (memory == nullptr) return false;
  const std::array<Bytes, 2> pieces = {as_bytes(head), memory->bytes};
  const auto sent = stream_.try_write(pieces, io::Flush::now);
  sent_of_memory_ = sent.value_or(0);
  context_.metrics.sent_bytes.add(sent_of_memory_);
  turn_.sent(sent_of_memory_);
  return sent_of_memory_ == head.size() + memory->bytes.size();
}

rt::Task<void> Sender::write(std::span<Bytes> pieces, io::Flush flush) {
  pieces = io::drop_front(pieces, 0);
  while (!pieces.empty()) {
    auto sent = stream_.try_write(pieces, flush);
    if (sent) {
      count(*sent);
      pieces = io::drop_front(pieces, *sent);
      if (turn_.is_over()) LEAT_CO_DO(co_await turn_.pass());
    } else if (sent.error().code() == Errc::would_block) {
      LEAT_CO_DO(co_await wait_for_room());
    } else {
      co_return fail(std::move(sent).error());
    }
  }
  co_return Status{};
}

bool Sender::begins_cold(const Response& response) {
  const auto* file = std::get_if<FileBody>(&response.body);
  if (file == nullptr || file->length == 0) return false;
  if (!stream_.can_send_file()) return true;
  if (file->is_warm) return false;
  const std::uint64_t window = std::min(file->length, kWindowBytes);
  if (!file->file->is_cached(file->offset, window)) return true;
  warm_bytes_ = window;
  return false;
}

rt::Task<void> Sender::prepare(const Response& response) {
  start_cold(std::get<FileBody>(response.body), 0);
  auto first = co_await reader_->next();
  if (first) {
    read_ = *first;
    co_return Status{};
  }
  reader_.reset();
  pace_.let_go();
  co_return fail(std::move(first).error());
}

rt::Task<void> Sender::send_file(const FileBody& body) {
  std::uint64_t done = 0;
  while (done < body.length) {
    const std::uint64_t window = std::min(body.length - done, kWindowBytes);
    const bool warm = body.is_warm || done < warm_bytes_ ||
                      (!reader_ && body.file->is_cached(body.offset + done, window));
    if (!reader_ && warm && stream_.can_send_file()) {
      LEAT_CO_TRY(const std::uint64_t sent, co_await send_cached(body, done, window));
      done += sent;
    } else {
      if (!reader_) start_cold(body, done);
      LEAT_CO_TRY(const std::uint64_t sent, co_await send_cold());
      done += sent;
    }
  }
  co_return Status{};
}

rt::Task<std::uint64_t> Sender::send_cached(const FileBody& body, std::uint64_t done,
                                            std::uint64_t window) {
  std::optional<io::Corked> corked;
  if (window >= kCorkMin) corked.emplace(stream_);
  std::uint64_t sent_here = 0;
  while (sent_here < window) {
    const std::uint64_t offset = body.offset + done + sent_here;
    const std::size_t want = std::min<std::uint64_t>(window - sent_here, kCallBytes);
    auto sent = stream_.try_send_file(*body.file, offset, want);
    if (sent) {
      sent_here += *sent;
      count(*sent);
      if (*sent < want) {
        // Less than was asked for: the socket is full, and trying again would only say so.
        LEAT_CO_DO(co_await wait_for_room());
      } else if (turn_.is_over()) {
        LEAT_CO_DO(co_await turn_.pass());
      }
    } else if (sent.error().code() == Errc::would_block) {
      LEAT_CO_DO(co_await wait_for_room());
    } else {
      co_return fail(std::move(sent).error());
    }
  }
  co_return sent_here;
}

void Sender::start_cold(const FileBody& body, std::uint64_t done) {
  run_bytes_ = std::min(body.length - done, kColdRunBytes);
  io::ReadAheadSource source{.file = body.uncached ? body.uncached : body.file,
                             .offset = body.offset + done,
                             .length = run_bytes_};
  reader_.emplace(context_.shard, context_.file_io, context_.body_buffers, std::move(source));
  pace_.hold();
}

rt::Task<std::uint64_t> Sender::send_cold() {
  while (true) {
    if (read_.empty()) {
      LEAT_CO_TRY(read_, co_await reader_->next());
    }
    if (read_.empty()) break;
    context_.metrics.cold_read_bytes.add(read_.size());
    std::array<Bytes, 1> pieces = {read_};
    LEAT_CO_DO(co_await write(pieces, io::Flush::now));
    read_ = {};
  }
  reader_.reset();
  pace_.let_go();
  co_return run_bytes_;
}

rt::Task<void> Sender::send_stream(StreamBody& body) {
  std::uint64_t sent = 0;
  while (true) {
    LEAT_CO_TRY(const Bytes bytes, co_await body.source->next());
    if (bytes.empty()) break;
    sent += bytes.size();
    if (body.length) {
      if (sent > *body.length) co_return fail(Errc::internal, "a body is longer than declared");
      LEAT_CO_DO(co_await send_piece(bytes, *body.source));
    } else {
      const http1::ChunkHead chunk(bytes.size());
      std::array<Bytes, 3> pieces = {as_bytes(chunk.text()), bytes, as_bytes(http1::kChunkEnd)};
      LEAT_CO_DO(co_await write(pieces, io::Flush::now));
    }
  }
  if (body.length) {
    if (sent < *body.length) co_return fail(Errc::corrupt, "a body ended before its length");
    co_return Status{};
  }
  std::array<Bytes, 1> pieces = {as_bytes(http1::kLastChunk)};
  co_return co_await write(pieces, io::Flush::now);
}

rt::Task<void> Sender::send_piece(Bytes bytes, const BodySource& source) {
  const auto in_file = source.in_file();
  if (in_file && bytes.size() >= kSendFileMin && stream_.can_send_file()) {
    const FileBody body{.file = in_file->file,
                        .uncached = nullptr,
                        .offset = in_file->offset,
                        .length = bytes.size(),
                        .is_warm = true};
    LEAT_CO_DO(co_await send_cached(body, 0, body.length));
    co_return Status{};
  }
  std::array<Bytes, 1> pieces = {bytes};
  co_return co_await write(pieces, io::Flush::now);
}

void Sender::count(std::size_t sent) {
  pace_.moved(sent);
  turn_.sent(sent);
  context_.metrics.sent_bytes.add(sent);
}

rt::Task<void> Sender::wait_for_room() {
  turn_.renew();
  return pace_.wait(stream_, io::Interest::write);
}

}  // namespace leat::http
