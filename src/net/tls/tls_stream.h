// TlsStream: TLS over any io::Stream, as an io::Stream. Made by ServerTls and ClientTls.
//
// An end without close_notify is Errc::closed and never a clean end: somebody on the way may have
// cut the connection, and a body that ends with it must not look complete.
//
// After a write that would have blocked, the next one must begin with the same bytes: they are
// already encrypted. io::write_all() does so.
//
// Shard: the inner stream's. Lifetime: owns the inner stream, which stays where it is in memory, so
// a Watchdog::Watch on it goes on working.
#pragma once

#include <memory>
#include <optional>

#include "io/stream.h"
#include "tls/openssl_handle.h"
#include "tls/stream_bio.h"

namespace leat::tls {

class TlsStream final : public io::Stream {
 public:
  // The most that one TLS record holds; small pieces are gathered up to it.
  static constexpr std::size_t kRecordMaxBytes = 16 * 1024;

  // Requires: `ssl` was told which side it is.
  TlsStream(SslPtr ssl, std::unique_ptr<io::Stream> inner);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;
  ~TlsStream() override;

  // Comes first. Errors: `on_protocol_error` (what the peer sent is no TLS we accept), denied (its
  // certificate is not trusted), closed, io, the reason of an interrupt.
  rt::Task<void> handshake(Errc on_protocol_error);

  Result<std::size_t> try_read(MutableBytes target) override;
  Result<std::size_t> try_write(std::span<const Bytes> pieces, io::Flush flush) override;
  Result<std::size_t> try_send_file(const io::File& file, std::uint64_t offset,
                                    std::size_t length) override;
  bool can_send_file() const override { return false; }
  rt::Task<void> wait(io::Interest interest) override;
  void interrupt(Errc reason) override;
  void finish_writing() override;
  const io::Address& peer() const override { return inner_->peer(); }
  bool is_encrypted() const override { return true; }

 private:
  // What a call of OpenSSL came to: done, or waiting for the inner stream, or over.
  enum class Outcome : std::uint8_t { done, end, blocked, broken };

  // `wants` is set when the outcome is `blocked`, broken_ when it is `broken`.
  Outcome judge(int returned, io::Interest& wants, Errc on_protocol_error);
  Result<std::size_t> write_record(Bytes bytes, io::Flush flush);

  std::unique_ptr<io::Stream> inner_;
  StreamBio bridge_;
  SslPtr ssl_;
  io::Interest read_wants_ = io::Interest::read;
  io::Interest write_wants_ = io::Interest::write;
  bool read_blocked_ = false;            // the last read has taken all that was there
  std::size_t unsent_record_bytes_ = 0;  // of the record that a blocked write left behind
  std::optional<Errc> interrupted_;
  std::optional<Error> broken_;
};

}  // namespace leat::tls
