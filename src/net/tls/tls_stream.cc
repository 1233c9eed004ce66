#include "tls/tls_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"

namespace leat::tls {
namespace {

// Copies pieces until `target` is full. Requires: they hold that much.
void gather(std::span<const Bytes> pieces, MutableBytes target) {
  for (const Bytes piece : pieces) {
    const Bytes part = piece.first(std::min(piece.size(), target.size()));
    std::ranges::copy(part, target.begin());
    target = target.subspan(part.size());
    if (target.empty()) return;
  }
}

}  // namespace

TlsStream::TlsStream(SslPtr ssl, std::unique_ptr<io::Stream> inner)
    : inner_(std::move(inner)), bridge_(*inner_), ssl_(std::move(ssl)) {
  BIO* bio = bridge_.bio().release();
  SSL_set_bio(ssl_.get(), bio, bio);
}

TlsStream::~TlsStream() = default;

TlsStream::Outcome TlsStream::judge(int returned, io::Interest& wants, Errc on_protocol_error) {
  if (returned > 0) return Outcome::done;
  switch (SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_ZERO_RETURN: return Outcome::end;
    case SSL_ERROR_WANT_READ: wants = io::Interest::read; return Outcome::blocked;
    case SSL_ERROR_WANT_WRITE: wants = io::Interest::write; return Outcome::blocked;
    default: break;
  }
  const long verdict = SSL_get_verify_result(ssl_.get());
  if (bridge_.failure()) {
    broken_.emplace(bridge_.failure()->clone());
  } else if (verdict != X509_V_OK) {
    broken_.emplace(Errc::denied, std::string("certificate of the peer: ") +
                                      X509_verify_cert_error_string(verdict));
  } else {
    broken_.emplace(openssl_error(on_protocol_error, "TLS"));
  }
  ERR_clear_error();
  return Outcome::broken;
}

rt::Task<void> TlsStream::handshake(Errc on_protocol_error) {
  while (true) {
    ERR_clear_error();
    io::Interest wants = io::Interest::read;
    const int returned = SSL_do_handshake(ssl_.get());
    switch (judge(returned, wants, on_protocol_error)) {
      case Outcome::done: co_return Status{};
      case Outcome::end: co_return fail(Errc::closed, "the peer ended the TLS handshake");
      case Outcome::broken: co_return fail(broken_->clone());
      case Outcome::blocked: break;
    }
    LEAT_CO_DO(co_await inner_->wait(wants));
  }
}

Result<std::size_t> TlsStream::try_read(MutableBytes target) {
  if (broken_) return fail(broken_->clone());
  if (target.empty()) return std::size_t{0};
  ERR_clear_error();
  std::size_t count = 0;
  const int returned = SSL_read_ex(ssl_.get(), target.data(), target.size(), &count);
  const Outcome outcome = judge(returned, read_wants_, Errc::io);
  read_blocked_ = outcome == Outcome::blocked;
  switch (outcome) {
    case Outcome::done: return count;
    case Outcome::end: return std::size_t{0};
    case Outcome::blocked: return fail(Errc::would_block);
    case Outcome::broken: break;
  }
  return fail(broken_->clone());
}

Result<std::size_t> TlsStream::try_write(std::span<const Bytes> pieces, io::Flush flush) {
  if (broken_) return fail(broken_->clone());
  while (!pieces.empty() && pieces.front().empty()) {
    pieces = pieces.subspan(1);
  }
  std::size_t offered = 0;
  for (const Bytes piece : pieces) {
    offered += piece.size();
  }
  if (offered == 0) return std::size_t{0};
  LEAT_CHECK(offered >= unsent_record_bytes_);
  const std::size_t size =
      unsent_record_bytes_ > 0 ? unsent_record_bytes_ : std::min(offered, kRecordMaxBytes);
  const Bytes front = pieces.front();
  if (front.size() >= size) return write_record(front.first(size), flush);
  std::array<std::byte, kRecordMaxBytes> record;
  const MutableBytes gathered = std::span(record).first(size);
  gather(pieces, gathered);
  return write_record(gathered, flush);
}

Result<std::size_t> TlsStream::write_record(Bytes bytes, io::Flush flush) {
  bridge_.set_flush(flush);
  ERR_clear_error();
  std::size_t count = 0;
  const int returned = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
  const Outcome outcome = judge(returned, write_wants_, Errc::io);
  unsent_record_bytes_ = outcome == Outcome::blocked ? bytes.size() : 0;
  switch (outcome) {
    case Outcome::done: return count;
    case Outcome::blocked: return fail(Errc::would_block);
    case Outcome::end: return fail(Errc::closed, "written after the end");
    case Outcome::broken: break;
  }
  return fail(broken_->clone());
}

Result<std::size_t> TlsStream::try_send_file(const io::File&, std::uint64_t, std::size_t) {
  return fail(Errc::not_implemented, "TLS sends no files");
}

rt::Task<void> TlsStream::wait(io::Interest interest) {
  if (interrupted_) co_return fail(*interrupted_);
  if (interest == io::Interest::write) co_return co_await inner_->wait(write_wants_);
  // What OpenSSL has taken from the stream already will never make it readable again.
  const bool has_bytes = !read_blocked_ && SSL_has_pending(ssl_.get()) == 1;
  if (has_bytes) co_return Status{};
  co_return co_await inner_->wait(read_wants_);
}

void TlsStream::interrupt(Errc reason) {
  if (!interrupted_) interrupted_ = reason;
  inner_->interrupt(reason);
}

void TlsStream::finish_writing() {
  const bool can_say_goodbye = !broken_ && SSL_is_init_finished(ssl_.get()) == 1;
  if (can_say_goodbye && (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) == 0) {
    ERR_clear_error();
    bridge_.set_flush(io::Flush::now);
    // Best effort: if it cannot leave now, the peer sees a cut connection.
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }
  inner_->finish_writing();
}

}  // namespace leat::tls
