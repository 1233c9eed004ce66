// ServiceSettings: which service a client talks to, and as whom.
//
// For each: what was given > LEAT_* > the profile's section of ~/.config/leat/config.toml > its top
// level > what the AWS tools would take > built-in. Credentials come from where AWS tools have
// them.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "s3client/endpoint.h"
#include "sigv4/sign.h"

namespace leat::session {

using Texts = std::map<std::string, std::string, std::less<>>;

struct SettingSources {
  Texts given{};  // by the caller: endpoint, region, profile, ca_file, access_key, secret_key, …
  std::map<std::string, std::string> environment{};
  std::function<Result<std::string>(const std::string& path)> read_text{};
};

struct ServiceSettings {
  s3client::Endpoint endpoint{};
  sigv4::Signer signer{};
  std::string ca_file{};  // empty: the system's
  std::string home{};
  Texts others{};  // part_size and jobs, as far as somebody said something

  std::string other(std::string_view key) const {
    const auto found = others.find(key);
    return found == others.end() ? std::string() : found->second;
  }
};

// Where the service is, without who asks it. Empty: nobody said.
struct ServicePlace {
  std::string url{};
  std::string ca_file{};
};

// Environment variables that are the client's; servers pass them over.
std::span<const std::string_view> client_variables();

// Errors: bad_request with what is wrong, not_found for a profile.
Result<ServicePlace> find_place(const SettingSources& sources);
// Errors: as above; denied without credentials.
Result<ServiceSettings> find_service(const SettingSources& sources);

}  // namespace leat::session
