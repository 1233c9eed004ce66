// ClientSettings: which service a command talks to, as whom, and how hard.
//
// For each: flag > LEAT_* > the profile's section of ~/.config/leat/config.toml > its top level >
// what the AWS tools would take > built-in. Credentials come from where AWS tools have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/clock.h"
#include "leat/arguments.h"
#include "leat/command.h"
#include "s3client/endpoint.h"
#include "sigv4/sign.h"
#include "tls/client_tls.h"

namespace leat::programs {

struct ClientSettings {
  s3client::Endpoint endpoint{};
  sigv4::Signer signer{};
  std::string ca_file{};  // empty: the system's
  std::size_t jobs = 0;   // transfers at once
  std::uint64_t part_bytes = 0;
  std::string state_folder{};  // for uploads that were interrupted; empty: no home
  std::string home{};
};

// Where the service is, without who asks it. Empty: nobody said.
struct ServiceSettings {
  std::string url{};
  std::string ca_file{};
};

// Errors: bad_request, not_found for a profile.
Result<ServiceSettings> service_settings(const Invocation& invocation, const Arguments& arguments);

// Trust in who answers at an https endpoint, by the certificates in `ca_file` or the system's;
// nothing for plain connections. Lifetime: the clock outlives it. Errors: bad_request, not_found.
Result<std::optional<tls::ClientTls>> client_tls(const s3client::Endpoint& endpoint,
                                                 const std::string& ca_file,
                                                 const io::Clock& clock);

// Environment variables that are the client's; servers pass them over.
std::span<const std::string_view> client_variables();

// Errors: bad_request with what is wrong, denied without credentials, not_found for a profile.
Result<ClientSettings> client_settings(const Invocation& invocation, const Arguments& arguments);

}  // namespace leat::programs
