#include "s3client/refusal.h"

#include <fmt/format.h>

#include <array>

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
    Known{"RequestTimeTooSkewed", Errc::denied, false, "set the clock of this machine"},
    Known{"AuthorizationHeaderMalformed", Errc::denied, false, "check the region: --region"},
    Known{"AccessDenied", Errc::denied, false,
          "the key has no right to do this: `leat key list` shows its rules"},
    Known{"BucketNotEmpty", Errc::conflict, false, "`leat rb --force` removes its objects, too"},
    Known{"BucketAlreadyOwnedByYou", Errc::conflict, false, ""},
    Known{"BucketAlreadyExists", Errc::conflict, false, ""},
    Known{"OperationAborted", Errc::conflict, true, ""},
    Known{"BadDigest", Errc::corrupt, true, "bytes were damaged on their way"},
    Known{"XAmzContentSHA256Mismatch", Errc::corrupt, true, "bytes were damaged on their way"},
    Known{"XAmzContentChecksumMismatch", Errc::corrupt, true, "bytes were damaged on their way"},
    Known{"EntityTooLarge", Errc::too_large, false, ""},
    Known{"QuotaExceeded", Errc::no_space, false, ""},
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
};

Said said_in(std::string_view body) {
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
  if (said.code.empty() && parts.status == 404) {
    said.code = parts.key.empty() ? "NoSuchBucket" : "NoSuchKey";
    said.message = parts.key.empty() ? "there is no such bucket" : "there is no such object";
  }
  if (said.code.empty() && parts.status == 403) said.code = "AccessDenied";
  if (said.code.empty() && parts.status == 400 && parts.body.empty()) {
    said.message = "the service takes no such name; buckets have 3 to 63 of a-z, 0-9, '-' and '.'";
  }
  Errc errc = errc_of_status(parts.status);
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
  std::string name(parts.bucket.empty() ? "the service" : parts.bucket);
  if (!parts.key.empty()) name += fmt::format("/{}", parts.key);
  std::string text = fmt::format("{}: {}", name,
                                 said.message.empty() ? fmt::format("answered {}", parts.status)
                                                      : std::string_view(said.message));
  if (!said.code.empty()) text += fmt::format(" ({})", said.code);
  if (!advice.empty()) text += fmt::format("; {}", advice);
  return {Error(errc, std::move(text)), may_retry};
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
