// Credentials as every AWS client finds them: the environment, then the files of ~/.aws.
//
// Pure: the program reads environment and files and hands them over. The order is the one of the
// AWS SDKs: a profile that was named wins over nothing but files; AWS_ACCESS_KEY_ID in the
// environment wins over the default profile.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace leat::s3client {

struct Credentials {
  std::string access_key{};
  std::string secret{};
  std::string session_token{};  // empty without one

  bool operator==(const Credentials&) const = default;
};

// What is known about a service without asking it. Empty strings: nothing was said.
struct Profile {
  std::optional<Credentials> credentials{};
  std::string endpoint{};
  std::string region{};
  std::string ca_bundle{};  // a file of certificates
};

struct ProfileSources {
  std::map<std::string, std::string> environment{};
  std::string credentials_text{};  // of ~/.aws/credentials; empty if there is none
  std::string config_text{};       // of ~/.aws/config
  std::string profile{};           // named on the command line; empty: AWS_PROFILE, else default
};

// Errors: not_found, for a profile that was named and is in no file; bad_request, for half a key.
Result<Profile> find_profile(const ProfileSources& sources);

// An INI file as AWS writes it: section, then key. Lines that are indented belong to the key above
// them: "s3.endpoint_url".
using Ini = std::map<std::string, std::map<std::string, std::string>>;
Ini parse_ini(std::string_view text);

}  // namespace leat::s3client
