// ClientTls: makes TLS connections to servers, and decides which servers are the right ones.
//
// Either an authority vouches for the server's certificate, which must then name the host and be
// valid now; or the server must show exactly the certificate with a known fingerprint, whatever it
// says: this is for self-signed ones.
//
// Safe to share between shards: it does not change once made.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/clock.h"
#include "io/stream.h"
#include "tls/fingerprint.h"
#include "tls/openssl_handle.h"

namespace leat::tls {

class ClientTls {
 public:
  // Trusts servers whose certificate is in `authorities_pem` or signed by one that is.
  // Lifetime: `clock` outlives it. Errors: bad_request (not a list of certificates).
  static Result<ClientTls> trusting_authorities(std::string_view authorities_pem,
                                                const io::Clock& clock);

  // Trusts the one certificate with this fingerprint.
  static ClientTls trusting_fingerprint(const Fingerprint& fingerprint);

  // The handshake. `host` is the name or the address that the caller wanted to reach. Bound its
  // time as for ServerTls::accept().
  // Lifetime: the ClientTls outlives the task.
  // Errors: denied (not the right server), io (no TLS we accept), closed, an interrupt's reason.
  rt::Task<std::unique_ptr<io::Stream>> connect(std::unique_ptr<io::Stream> stream,
                                                std::string host) const;

 private:
  ClientTls(ContextPtr context, const io::Clock* clock, std::unique_ptr<Fingerprint> pinned)
      : context_(std::move(context)), clock_(clock), pinned_(std::move(pinned)) {}

  ContextPtr context_;
  const io::Clock* clock_;               // null with a pinned certificate
  std::unique_ptr<Fingerprint> pinned_;  // on the heap: the context points at it
};

}  // namespace leat::tls
