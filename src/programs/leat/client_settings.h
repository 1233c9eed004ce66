// ClientSettings: which service a command talks to, as whom, and how hard.
//
// For each: flag > LEAT_* > the profile's section of ~/.config/leat/config.toml > its top level >
// what the AWS tools would take > built-in. Credentials come from where AWS tools have them.
#pragma once

#include <cstdint>
#include <string>

#include "leat/arguments.h"
#include "leat/command.h"
#include "s3client/endpoint.h"
#include "sigv4/sign.h"

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

// Environment variables that are the client's; servers pass them over.
std::span<const std::string_view> client_variables();

// Errors: bad_request with what is wrong, denied without credentials, not_found for a profile.
Result<ClientSettings> client_settings(const Invocation& invocation, const Arguments& arguments);

}  // namespace leat::programs
