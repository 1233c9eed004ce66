#include "leat/client_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/nearest.h"
#include "config/parse.h"
#include "config/toml.h"
#include "leat/settings.h"
#include "s3client/credentials.h"

namespace leat::programs {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {"endpoint", "region",    "profile",
                                                   "ca_file",  "part_size", "jobs"};
constexpr std::array<std::string_view, 7> kVariables = {
    "LEAT_ENDPOINT",  "LEAT_REGION", "LEAT_PROFILE",     "LEAT_CA_FILE",
    "LEAT_PART_SIZE", "LEAT_JOBS",   "LEAT_PROGRESS_FPS"};
constexpr std::string_view kDefaultEndpoint = "http://127.0.0.1:9000";
constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr std::string_view kDefaultPartSize = "8MiB";
constexpr std::string_view kDefaultJobs = "32";

using Texts = std::map<std::string, std::string, std::less<>>;

std::string variable(const Invocation& invocation, std::string_view name) {
  const auto found = invocation.environment.find(std::string(name));
  return found == invocation.environment.end() ? std::string() : found->second;
}

// The text of a file that may be missing.
Result<std::string> optional_text(const std::string& path) {
  auto text = read_text(path);
  if (text || text.error().code() != Errc::not_found) return text;
  return std::string();
}

bool is_key(std::string_view key) {
  return std::ranges::find(kKeys, key) != kKeys.end();
}

// What the file says for a profile: its own section, else the top level.
Result<Texts> file_settings(const std::string& path, const std::string& profile) {
  LEAT_TRY(const std::string text, optional_text(path));
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

// The node that a leat:// path names; all paths must name the same.
Result<std::string> named_endpoint(const Arguments& arguments) {
  constexpr std::string_view kScheme = "leat://";
  std::string found;
  for (const std::string& word : arguments.positionals) {
    if (!word.starts_with(kScheme)) continue;
    const std::size_t end = word.find('/', kScheme.size());
    const std::string host = word.substr(kScheme.size(), end - kScheme.size());
    if (!found.empty() && found != host) {
      return fail(Errc::bad_request,
                  fmt::format("one command talks to one service, not to {} and {}", found, host));
    }
    found = host;
  }
  return found.empty() ? found : "http://" + found;
}

// Flag, environment, file: the first that says something.
std::string chosen(const Invocation& invocation, const Arguments& arguments, const Texts& file,
                   std::string_view key) {
  std::string flag = fmt::format("--{}", key);
  std::ranges::replace(flag, '_', '-');
  if (std::string given = arguments.value(flag); !given.empty()) return given;
  std::string name = fmt::format("LEAT_{}", key);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  if (std::string given = variable(invocation, name); !given.empty()) return given;
  const auto found = file.find(key);
  return found == file.end() ? std::string() : found->second;
}

Result<s3client::Profile> aws_profile(const Invocation& invocation, const std::string& home,
                                      const std::string& profile) {
  const auto path = [&](std::string_view name, std::string_view fallback) {
    const std::string given = variable(invocation, name);
    return given.empty() ? home + std::string(fallback) : given;
  };
  s3client::ProfileSources sources{.environment = invocation.environment, .profile = profile};
  LEAT_TRY(sources.credentials_text,
           optional_text(path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials")));
  LEAT_TRY(sources.config_text, optional_text(path("AWS_CONFIG_FILE", "/.aws/config")));
  return s3client::find_profile(sources);
}

std::string or_else(std::string_view text, std::string_view fallback) {
  return std::string(text.empty() ? fallback : text);
}

// "$XDG_STATE_HOME/leat/uploads", by default below ~/.local/state.
std::string state_folder(const Invocation& invocation, const std::string& home) {
  const std::string state = variable(invocation, "XDG_STATE_HOME");
  if (!state.empty()) return state + "/leat/uploads";
  return home.empty() ? "" : home + "/.local/state/leat/uploads";
}

}  // namespace

std::span<const std::string_view> client_variables() {
  return kVariables;
}

Result<ClientSettings> client_settings(const Invocation& invocation, const Arguments& arguments) {
  ClientSettings settings;
  settings.home = variable(invocation, "HOME");
  settings.state_folder = state_folder(invocation, settings.home);
  const std::string config_home =
      or_else(variable(invocation, "XDG_CONFIG_HOME"), settings.home + "/.config");
  const std::string wanted = chosen(invocation, arguments, {}, "profile");
  LEAT_TRY(const Texts file, file_settings(config_home + "/leat/config.toml", wanted));
  const auto pick = [&](std::string_view key) { return chosen(invocation, arguments, file, key); };
  // A profile of our own file may name the one of AWS that has its key.
  const auto named = file.find("profile");
  const bool is_ours = named != file.end() || (!wanted.empty() && file.contains("endpoint"));
  const std::string aws = named != file.end() ? named->second : wanted;
  auto profile = aws_profile(invocation, settings.home, aws);
  if (!profile && is_ours && named == file.end() && profile.error().code() == Errc::not_found) {
    profile = aws_profile(invocation, settings.home, "");
  }
  if (!profile) return fail(std::move(profile).error());

  LEAT_TRY(const std::string from_path, named_endpoint(arguments));
  const std::string url =
      from_path.empty() ? or_else(pick("endpoint"), profile->endpoint) : from_path;
  LEAT_TRY(settings.endpoint, s3client::parse_endpoint(or_else(url, kDefaultEndpoint)));
  if (!profile->credentials) {
    return fail(Errc::denied,
                "no credentials: `eval \"$(leat env DIR)\"` sets those of the node on DIR; "
                "AWS_ACCESS_KEY_ID, AWS_PROFILE and ~/.aws work as well");
  }
  settings.signer = {.access_key = profile->credentials->access_key,
                     .secret = profile->credentials->secret,
                     .session_token = profile->credentials->session_token,
                     .region = or_else(or_else(pick("region"), profile->region), kDefaultRegion)};
  settings.ca_file = or_else(pick("ca_file"), profile->ca_bundle);
  auto part = config::parse_bytes(or_else(pick("part_size"), kDefaultPartSize));
  if (!part || *part < 5 * kMiB || *part > 5 * kGiB) {
    return fail(Errc::bad_request, "part size: expected 5MiB to 5GiB");
  }
  settings.part_bytes = *part;
  const auto jobs = config::parse_integer(or_else(pick("jobs"), kDefaultJobs));
  if (!jobs || *jobs < 1 || *jobs > 1024) {
    return fail(Errc::bad_request, "jobs: expected 1 to 1024");
  }
  settings.jobs = static_cast<std::size_t>(*jobs);
  return settings;
}

}  // namespace leat::programs
