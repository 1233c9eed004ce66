// What the `tls` settings mean for a server: plain connections, a certificate of its own, or files.
#pragma once

#include <memory>
#include <string>

#include "config/config.h"
#include "http/server.h"
#include "leat/data_directory.h"
#include "leat/server_process.h"

namespace leat::programs {

struct TlsSetup {
  std::unique_ptr<http::StreamUpgrade> upgrade;  // null: plain connections
  std::string fingerprint;                       // SHA-256 of the certificate, for clients to pin

  // "https://127.0.0.1:9000"
  std::string url(const io::Address& address) const;
};

// With --tls auto the certificate is kept in `directory`; without one it is made anew each time.
// Errors: bad_request, not_found, denied, io.
Result<TlsSetup> set_up_tls(const config::Config& settings, ServerProcess& process,
                            DataDirectory* directory);

}  // namespace leat::programs
