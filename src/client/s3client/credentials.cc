#include "s3client/credentials.h"

#include <fmt/format.h>

namespace leat::s3client {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string find(const std::map<std::string, std::string>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::string() : found->second;
}

using Section = std::map<std::string, std::string>;

const Section* section(const Ini& ini, const std::string& name) {
  const auto found = ini.find(name);
  return found == ini.end() ? nullptr : &found->second;
}

Result<std::optional<Credentials>> key_of(const Section& from, const std::string& access,
                                          const std::string& secret, const std::string& token) {
  Credentials key{find(from, access), find(from, secret), find(from, token)};
  if (key.access_key.empty() && key.secret.empty()) return std::optional<Credentials>();
  if (key.access_key.empty() || key.secret.empty()) {
    return fail(Errc::bad_request,
                fmt::format("{} and {} belong together; one of them is missing", access, secret));
  }
  return std::optional(std::move(key));
}

// endpoint_url of the profile's section, or of the [services …] section that it names.
std::string endpoint_in(const Ini& config, const Section& profile) {
  if (const std::string services = find(profile, "services"); !services.empty()) {
    if (const Section* named = section(config, "services " + services)) {
      if (std::string url = find(*named, "s3.endpoint_url"); !url.empty()) return url;
    }
  }
  if (std::string url = find(profile, "s3.endpoint_url"); !url.empty()) return url;
  return find(profile, "endpoint_url");
}

}  // namespace

Ini parse_ini(std::string_view text) {
  Ini ini;
  Section* current = nullptr;
  std::string parent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view words = trim(line);
    if (words.empty() || words.front() == '#' || words.front() == ';') continue;
    if (words.front() == '[') {
      current = &ini[std::string(trim(words.substr(1, words.find(']') - 1)))];
      parent.clear();
      continue;
    }
    const std::size_t equals = words.find('=');
    if (current == nullptr || equals == words.npos) continue;
    const std::string key(trim(words.substr(0, equals)));
    const std::string value(trim(words.substr(equals + 1)));
    const bool is_nested = line.front() == ' ' || line.front() == '\t';
    if (!is_nested) parent = value.empty() ? key : "";
    (*current)[is_nested && !parent.empty() ? parent + '.' + key : key] = value;
  }
  return ini;
}

Result<Profile> find_profile(const ProfileSources& sources) {
  const auto& environment = sources.environment;
  std::string name = sources.profile;
  if (name.empty()) name = find(environment, "AWS_PROFILE");
  const bool is_named = !name.empty();
  if (!is_named) name = "default";

  const Ini config = parse_ini(sources.config_text);
  const Ini credentials = parse_ini(sources.credentials_text);
  const Section* in_config = section(config, name == "default" ? name : "profile " + name);
  const Section* in_credentials = section(credentials, name);
  if (is_named && in_config == nullptr && in_credentials == nullptr) {
    return fail(
        Errc::not_found,
        fmt::format("profile {} is neither in ~/.aws/config nor in ~/.aws/credentials", name));
  }
  Profile profile;
  // A profile that was named beats the key in the environment, as it does in the AWS tools.
  if (sources.profile.empty()) {
    LEAT_TRY(profile.credentials, key_of(environment, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                         "AWS_SESSION_TOKEN"));
  }
  for (const Section* from : {in_credentials, in_config}) {
    if (from == nullptr || profile.credentials) continue;
    LEAT_TRY(profile.credentials,
             key_of(*from, "aws_access_key_id", "aws_secret_access_key", "aws_session_token"));
  }
  const auto first_of = [](std::initializer_list<std::string> texts) {
    for (const std::string& text : texts) {
      if (!text.empty()) return text;
    }
    return std::string();
  };
  const Section nothing;
  const Section& said = in_config != nullptr ? *in_config : nothing;
  const bool prefer_file = !sources.profile.empty();
  const std::string from_file = endpoint_in(config, said);
  const std::string from_environment =
      first_of({find(environment, "AWS_ENDPOINT_URL_S3"), find(environment, "AWS_ENDPOINT_URL")});
  profile.endpoint = prefer_file ? first_of({from_file, from_environment})
                                 : first_of({from_environment, from_file});
  const std::string region =
      first_of({find(environment, "AWS_REGION"), find(environment, "AWS_DEFAULT_REGION")});
  profile.region = prefer_file ? first_of({find(said, "region"), region})
                               : first_of({region, find(said, "region")});
  profile.ca_bundle = first_of({find(environment, "AWS_CA_BUNDLE"), find(said, "ca_bundle")});
  return profile;
}

}  // namespace leat::s3client
