#include "session/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/nearest.h"
#include "config/toml.h"
#include "s3client/credentials.h"

namespace leat::session {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {"endpoint", "region",    "profile",
                                                   "ca_file",  "part_size", "jobs"};
constexpr std::array<std::string_view, 7> kVariables = {
    "LEAT_ENDPOINT",  "LEAT_REGION", "LEAT_PROFILE",     "LEAT_CA_FILE",
    "LEAT_PART_SIZE", "LEAT_JOBS",   "LEAT_PROGRESS_FPS"};
constexpr std::string_view kDefaultEndpoint = "http://127.0.0.1:9000";
constexpr std::string_view kDefaultRegion = "us-east-1";

std::string text_in(const auto& texts, std::string_view name) {
  const auto found = texts.find(std::string(name));
  return found == texts.end() ? std::string() : found->second;
}

std::string or_else(std::string_view text, std::string_view fallback) {
  return std::string(text.empty() ? fallback : text);
}

// The text of a file that may be missing.
Result<std::string> optional_text(const SettingSources& sources, const std::string& path) {
  auto text = sources.read_text(path);
  if (text || text.error().code() != Errc::not_found) return text;
  return std::string();
}

bool is_key(std::string_view key) {
  return std::ranges::find(kKeys, key) != kKeys.end();
}

// What the file says for a profile: its own section, else the top level.
Result<Texts> file_settings(const SettingSources& sources, const std::string& path,
                            const std::string& profile) {
  LEAT_TRY(const std::string text, optional_text(sources, path));
  LEAT_TRY(const auto entries, config::read_toml(text, path));
  Texts own;
  Texts top;
  for (const config::TomlEntry& entry : entries) {
    std::string_view key = entry.path;
    Texts* into = &top;
    if (key.starts_with("profile.")) {
      key.remove_prefix(8);
      const std::size_t dot = std::min(key.find('.'), key.size());
      into = key.substr(0, dot) == profile ? &own : nullptr;
      key.remove_prefix(std::min(dot + 1, key.size()));
    }
    if (!is_key(key)) {
      const auto near = config::nearest(key, kKeys);
      return fail(Errc::bad_request,
                  fmt::format("unknown key `{}` in {}:{}{}", entry.path, path, entry.line,
                              near ? fmt::format("; did you mean `{}`?", *near) : ""));
    }
    if (into != nullptr) (*into)[std::string(key)] = entry.text;
  }
  own.merge(top);
  return own;
}

// Given, environment, file: the first that says something.
std::string chosen(const SettingSources& sources, const Texts& file, std::string_view key) {
  if (std::string given = text_in(sources.given, key); !given.empty()) return given;
  std::string name = fmt::format("LEAT_{}", key);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  if (std::string said = text_in(sources.environment, name); !said.empty()) return said;
  return text_in(file, key);
}

Result<s3client::Profile> aws_profile(const SettingSources& sources, const std::string& home,
                                      const std::string& profile) {
  const auto path = [&](std::string_view name, std::string_view fallback) {
    const std::string given = text_in(sources.environment, name);
    return given.empty() ? home + std::string(fallback) : given;
  };
  s3client::ProfileSources files{.environment = sources.environment, .profile = profile};
  LEAT_TRY(files.credentials_text,
           optional_text(sources, path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials")));
  LEAT_TRY(files.config_text, optional_text(sources, path("AWS_CONFIG_FILE", "/.aws/config")));
  return s3client::find_profile(files);
}

// The profile, or what stands for it when the caller brought a key.
Result<s3client::Profile> profile_for(const SettingSources& sources, const Texts& file,
                                      const std::string& home, const std::string& wanted) {
  // A profile of our own file may name the one of AWS that has its key.
  const auto named = file.find("profile");
  const bool is_ours = named != file.end() || (!wanted.empty() && file.contains("endpoint"));
  auto profile = aws_profile(sources, home, named != file.end() ? named->second : wanted);
  if (!profile && is_ours && named == file.end() && profile.error().code() == Errc::not_found) {
    profile = aws_profile(sources, home, "");
  }
  if (!profile) return profile;
  const std::string access_key = text_in(sources.given, "access_key");
  const std::string secret = text_in(sources.given, "secret_key");
  if (access_key.empty() != secret.empty()) {
    return fail(Errc::bad_request, "access_key and secret_key are given together");
  }
  if (!access_key.empty()) {
    profile->credentials = s3client::Credentials{.access_key = access_key, .secret = secret};
  }
  return profile;
}

// What the two configuration files and the environment of the AWS tools say.
struct Said {
  Texts file{};
  s3client::Profile aws{};
};

Result<Said> what_was_said(const SettingSources& sources) {
  const std::string home = text_in(sources.environment, "HOME");
  const std::string config_home =
      or_else(text_in(sources.environment, "XDG_CONFIG_HOME"), home + "/.config");
  const std::string wanted = chosen(sources, {}, "profile");
  Said said;
  LEAT_TRY(said.file, file_settings(sources, config_home + "/leat/config.toml", wanted));
  LEAT_TRY(said.aws, profile_for(sources, said.file, home, wanted));
  return said;
}

ServicePlace place_of(const Said& said, const SettingSources& sources) {
  return {.url = or_else(chosen(sources, said.file, "endpoint"), said.aws.endpoint),
          .ca_file = or_else(chosen(sources, said.file, "ca_file"), said.aws.ca_bundle)};
}

}  // namespace

std::span<const std::string_view> client_variables() {
  return kVariables;
}

Result<ServicePlace> find_place(const SettingSources& sources) {
  LEAT_TRY(const Said said, what_was_said(sources));
  return place_of(said, sources);
}

Result<ServiceSettings> find_service(const SettingSources& sources) {
  LEAT_TRY(const Said said, what_was_said(sources));
  ServicePlace place = place_of(said, sources);
  ServiceSettings settings;
  settings.home = text_in(sources.environment, "HOME");
  LEAT_TRY(settings.endpoint, s3client::parse_endpoint(or_else(place.url, kDefaultEndpoint)));
  settings.ca_file = std::move(place.ca_file);
  const auto& credentials = said.aws.credentials;
  if (!credentials) {
    return fail(Errc::denied,
                "no credentials: `eval \"$(leat env DIR)\"` sets those of the node on DIR; "
                "AWS_ACCESS_KEY_ID, AWS_PROFILE and ~/.aws work as well");
  }
  const auto pick = [&](std::string_view key) { return chosen(sources, said.file, key); };
  settings.signer = {.access_key = credentials->access_key,
                     .secret = credentials->secret,
                     .session_token = credentials->session_token,
                     .region = or_else(or_else(pick("region"), said.aws.region), kDefaultRegion)};
  for (const std::string_view key : {"part_size", "jobs"}) {
    if (std::string text = pick(key); !text.empty()) settings.others.emplace(key, std::move(text));
  }
  return settings;
}

}  // namespace leat::session
