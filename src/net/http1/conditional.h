// Conditional requests (RFC 9110 §13), with the order of precedence of §13.2.2.
//
// Entity tags are compared without their quotes, because S3 clients send them bare as well.
// If-Match compares strongly (a weak tag never matches), If-None-Match weakly. Dates that cannot
// be read are ignored, as the RFC asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "http1/message.h"

namespace leat::http1 {

struct Conditions {
  std::optional<std::string_view> if_match;
  std::optional<std::string_view> if_none_match;
  std::optional<std::string_view> if_modified_since;
  std::optional<std::string_view> if_unmodified_since;
};

// Errors: bad_request if one of the fields stands twice: no client does that, and reading half of a
// condition is worse than refusing it.
Result<Conditions> conditions_of(const HeaderBlock& headers);

// What the request's target is at present.
struct Selected {
  bool exists = false;
  std::string_view etag;     // quoted, bare or weak
  WallTime last_modified{};  // compared by the second
};

enum class Verdict : std::uint8_t { proceed, not_modified, precondition_failed };

// `method` decides what a failed If-None-Match means: not_modified for GET and HEAD, else
// precondition_failed. If-Modified-Since counts for GET and HEAD alone.
Verdict evaluate(const Conditions& conditions, const Selected& selected, Method method);

}  // namespace leat::http1
