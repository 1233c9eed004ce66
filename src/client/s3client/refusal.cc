#include "s3client/refusal.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "xml/document.h"

namespace leat::s3client {
namespace {

// X(code, Errc, may retry, what to do next)
struct Known {
  std::string_view code;
  Errc errc;
  bool may_retry;
  std::string_view advice;
};

constexpr std::array kKnown = {
    Known{"NoSuchBucket", Errc::not_found, false,
          "`leat mb BUCKET` makes it, `leat ls` lists them"},
    Known{"NoSuchKey", Errc::not_found, false, "`leat ls` shows what is there"},
    Known{"NoSuchUpload", Errc::not_found, false, ""},
    Known{"NoSuchVersion", Errc::not_found, false, ""},
    Known{"InvalidAccessKeyId", Errc::denied, false,
          "this access key is not known there: `eval \"$(leat env DIR)\"` sets a good one"},
    Known{"SignatureDoesNotMatch", Errc::denied, false,
          "the secret does not belong to the access key: check AWS_SECRET_ACCESS_KEY"},
    Known{"RequestTimeTooSkewed", Errc::denied, false,
          "the clocks differ by more than 15 minutes: set that of this machine, or of the node"},
    Known{"AuthorizationHeaderMalformed", Errc::denied, false,
          "check the region: --region, AWS_REGION"},
    Known{"AccessDenied", Errc::denied, false,
          "the key has no right to do this: `leat key list` shows its rules"},
    Known{"BucketNotEmpty", Errc::conflict, false, "`leat rb --force` removes its objects, too"},
    Known{"BucketAlreadyOwnedByYou", Errc::conflict, false,
          "`leat mb --exist-ok` takes it as it is"},
    Known{"BucketAlreadyExists", Errc::conflict, false, "choose another name"},
    Known{"InvalidBucketName", Errc::bad_request, false,
          "names of buckets have 3 to 63 of a-z, 0-9, '-' and '.'"},
    Known{"OperationAborted", Errc::conflict, true, ""},
    Known{"BadDigest", Errc::corrupt, true, "bytes were damaged on their way"},
    Known{"XAmzContentSHA256Mismatch", Errc::corrupt, true, "bytes were damaged on their way"},
    Known{"XAmzContentChecksumMismatch", Errc::corrupt, true, "bytes were damaged on their way"},
    Known{"EntityTooLarge", Errc::too_large, false, ""},
    Known{"QuotaExceeded", Errc::no_space, false, "ask who gave the quota"},
    Known{"InsufficientStorage", Errc::no_space, false,
          "its disks are full: `leat rm` makes room, `leat disk add DIR` brings another disk"},
    Known{"RequestTimeout", Errc::timeout, true, ""},
    Known{"IncompleteBody", Errc::closed, true, ""},
    Known{"SlowDown", Errc::busy, true, ""},
    Known{"KeyTooLongError", Errc::bad_request, false, ""},
};

Errc errc_of_status(int status) {
  switch (status) {
    case 401:
    case 403: return Errc::denied;
    case 404: return Errc::not_found;
    case 405: return Errc::method_not_allowed;
    case 408: return Errc::timeout;
    case 409: return Errc::conflict;
    case 412: return Errc::precondition_failed;
    case 413: return Errc::too_large;
    case 416: return Errc::range_not_satisfiable;
    case 429: return Errc::busy;
    case 501: return Errc::not_implemented;
    case 503: return Errc::unavailable;
    case 504: return Errc::timeout;
    case 507: return Errc::no_space;
    default: return status >= 500 ? Errc::io : Errc::bad_request;
  }
}

bool may_retry_status(int status) {
  return status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

struct Said {
  std::string code{};
  std::string message{};
  std::optional<Errc> native{};  // what Leat's own API calls it
};

// The native API of Leat: {"error": name of an Errc, "message": …}.
Said said_in_json(std::string_view body) {
  Said said;
  const auto document = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return said;
  const auto text = [&document](const char* name) {
    const auto found = document.find(name);
    return found != document.end() && found->is_string() ? found->get<std::string>() : "";
  };
  said.native = errc_named(text("error"));
  said.message = text("message");
  return said;
}

Said said_in(std::string_view body) {
  if (body.starts_with('{')) return said_in_json(body);
  Said said;
  const auto document = xml::Document::parse(as_bytes(body));
  if (!document || document->root().name() != "Error") return said;
  const auto children = document->root().children();
  for (const xml::Element child : children) {
    if (child.name() == "Code") said.code = child.text();
    if (child.name() == "Message") said.message = child.text();
  }
  return said;
}

}  // namespace

Refusal refusal_of(const RefusalParts& parts) {
  Said said = said_in(parts.body);
  // A HEAD has no body to say more in.
  if (said.code.empty() && said.message.empty() && parts.status == 404) {
    said.code = parts.key.empty() ? "NoSuchBucket" : "NoSuchKey";
    said.message = parts.key.empty() ? "there is no such bucket" : "there is no such object";
  }
  if (said.code.empty() && !said.native && parts.status == 403) said.code = "AccessDenied";
  if (said.code.empty() && parts.status == 400 && parts.body.empty()) {
    said.message = "the service takes no such name; buckets have 3 to 63 of a-z, 0-9, '-' and '.'";
  }
  Errc errc = said.native.value_or(errc_of_status(parts.status));
  bool may_retry = may_retry_status(parts.status);
  std::string advice;
  for (const Known& known : kKnown) {
    if (known.code != said.code) continue;
    errc = known.errc;
    may_retry = known.may_retry;
    advice = known.advice;
  }
  if (const std::size_t at = advice.find("BUCKET"); at != advice.npos) {
    advice.replace(at, 6, parts.bucket);
  }
  if (said.native && !said.message.empty()) return {Error(errc, said.message), may_retry};
  std::string name(parts.bucket.empty() ? "the service" : parts.bucket);
  if (!parts.key.empty()) name += fmt::format("/{}", parts.key);
  std::string text = fmt::format("{}: {}", name,
                                 said.message.empty() ? fmt::format("answered {}", parts.status)
                                                      : std::string_view(said.message));
  if (!said.code.empty()) text += fmt::format(" ({})", said.code);
  if (!advice.empty()) text += fmt::format("; {}", advice);
  return {Error(errc, std::move(text)), may_retry};
}

std::optional<Errc> errc_named(std::string_view name) {
#define LEAT_X(code, http, s3, err, retry) \
  if (name == #code) return Errc::code;
  LEAT_ERRC_TABLE(LEAT_X)
#undef LEAT_X
  return std::nullopt;
}

namespace {

// An answer that is no TLS, or no HTTP: often it is the other one.
std::string other_scheme(std::string_view url) {
  constexpr std::string_view kEncrypted = "https://";
  const std::string_view rest = url.substr(url.find("//") + 2);
  return url.starts_with(kEncrypted)
             ? fmt::format("it may not speak TLS: try --endpoint http://{}", rest)
             : fmt::format("it may speak TLS: try --endpoint https://{}", rest);
}

}  // namespace

Error unreachable(std::string_view url, const Error& error) {
  switch (error.code()) {
    case Errc::unavailable:
    case Errc::not_found:
      return {error.code(), fmt::format("nobody answers at {}: {}; `leat serve DIR` starts a node, "
                                        "--endpoint names another service",
                                        url, error.detail())};
    case Errc::denied:
      return {Errc::denied, fmt::format("{}: {}; --ca-file names the certificates to trust", url,
                                        error.detail())};
    default: break;
  }
  const std::string_view why = error.detail().empty() ? traits(error.code()).name : error.detail();
  // A server that speaks TLS may answer a plain request by closing.
  const bool is_hung_up = error.code() == Errc::closed && url.starts_with("http://");
  if (error.code() != Errc::io && !is_hung_up) {
    return {error.code(), fmt::format("{}: {}", url, why)};
  }
  return {error.code(), fmt::format("{}: {}; {}", url, why, other_scheme(url))};
}

bool is_transient(const Error& error) {
  switch (error.code()) {
    case Errc::timeout:
    case Errc::closed:
    case Errc::unavailable:
    case Errc::busy:
    case Errc::io: return true;
    default: return false;
  }
}

}  // namespace leat::s3client
