#include "leat/client_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/parse.h"
#include "leat/settings.h"
#include "leat/table.h"
#include "session/settings.h"

namespace leat::programs {
namespace {

constexpr std::array<std::string_view, 6> kFlags = {"endpoint", "region",    "profile",
                                                    "ca_file",  "part_size", "jobs"};
constexpr std::string_view kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";
constexpr std::string_view kDefaultPartSize = "8MiB";
constexpr std::string_view kDefaultJobs = "32";

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

session::Texts flags_of(const Arguments& arguments) {
  session::Texts given;
  for (const std::string_view key : kFlags) {
    std::string flag = fmt::format("--{}", key);
    std::ranges::replace(flag, '_', '-');
    if (std::string value = arguments.value(flag); !value.empty()) {
      given.emplace(key, std::move(value));
    }
  }
  return given;
}

std::string or_else(std::string_view text, std::string_view fallback) {
  return std::string(text.empty() ? fallback : text);
}

Result<session::SettingSources> sources_of(const Invocation& invocation,
                                           const Arguments& arguments) {
  session::SettingSources sources{
      .given = flags_of(arguments), .environment = invocation.environment, .read_text = read_text};
  LEAT_TRY(const std::string from_path, named_endpoint(arguments));
  if (!from_path.empty()) sources.given["endpoint"] = from_path;
  return sources;
}

}  // namespace

Result<std::optional<tls::ClientTls>> client_tls(const s3client::Endpoint& endpoint,
                                                 const std::string& ca_file,
                                                 const io::Clock& clock) {
  if (!endpoint.is_encrypted) return std::optional<tls::ClientTls>();
  LEAT_TRY(const std::string pem, read_text(or_else(ca_file, kSystemAuthorities)));
  LEAT_TRY(auto trusting, tls::ClientTls::trusting_authorities(pem, clock));
  return std::optional(std::move(trusting));
}

std::span<const std::string_view> client_variables() {
  return session::client_variables();
}

Result<ServiceSettings> service_settings(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const session::SettingSources sources, sources_of(invocation, arguments));
  LEAT_TRY(session::ServicePlace place, session::find_place(sources));
  return ServiceSettings{.url = std::move(place.url), .ca_file = std::move(place.ca_file)};
}

Result<ClientSettings> client_settings(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const session::SettingSources sources, sources_of(invocation, arguments));
  LEAT_TRY(session::ServiceSettings service, session::find_service(sources));
  ClientSettings settings;
  settings.endpoint = std::move(service.endpoint);
  settings.signer = std::move(service.signer);
  settings.ca_file = std::move(service.ca_file);
  settings.home = service.home;
  const std::string state = state_folder(invocation);
  if (!state.empty()) settings.state_folder = state + "/uploads";
  auto part = config::parse_bytes(or_else(service.other("part_size"), kDefaultPartSize));
  if (!part || *part < 5 * kMiB || *part > 5 * kGiB) {
    return fail(Errc::bad_request, "part size: expected 5MiB to 5GiB");
  }
  settings.part_bytes = *part;
  const auto jobs = config::parse_integer(or_else(service.other("jobs"), kDefaultJobs));
  if (!jobs || *jobs < 1 || *jobs > 1024) {
    return fail(Errc::bad_request, "jobs: expected 1 to 1024");
  }
  settings.jobs = static_cast<std::size_t>(*jobs);
  return settings;
}

}  // namespace leat::programs
