// StreamBio: lets OpenSSL read from and write to an io::Stream.
//
// OpenSSL asks for bytes through a BIO and knows three answers: some, none now, never again. The
// stream says more than that, so the reason of a failure is kept here for the caller of OpenSSL to
// find.
//
// Shard: the stream's. Lifetime: the BIO that bio() hands out must not be used after the StreamBio.
#pragma once

#include <optional>

#include "io/stream.h"
#include "tls/openssl_handle.h"

namespace leat::tls {

class StreamBio {
 public:
  // Lifetime: `stream` outlives it.
  explicit StreamBio(io::Stream& stream) : stream_(stream) {}
  StreamBio(const StreamBio&) = delete;
  StreamBio& operator=(const StreamBio&) = delete;

  // A BIO that forwards to this object.
  BioPtr bio();

  // Passed on with the writes from now on.
  void set_flush(io::Flush flush) { flush_ = flush; }

  // Why the stream moves no more bytes: the peer's end or an error. Empty while it does.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  friend struct BioCalls;

  io::Stream& stream_;
  io::Flush flush_ = io::Flush::now;
  bool ended_ = false;
  std::optional<Error> failure_;
};

}  // namespace leat::tls
