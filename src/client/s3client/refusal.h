// Refusal: what a service says when it does not do what it was asked, and what that means here.
//
// The text is for the person at the terminal: what, why, and what to do next.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace leat::s3client {

struct Refusal {
  Error error{Errc::internal};
  bool may_retry = false;
};

struct RefusalParts {
  int status = 0;
  std::string_view body{};    // XML, or nothing after a HEAD
  std::string_view bucket{};  // what was asked for
  std::string_view key{};
};

Refusal refusal_of(const RefusalParts& parts);

// The code that Leat's own API calls by this name; nothing if this build knows none.
std::optional<Errc> errc_named(std::string_view name);

// What keeps us from asking the service at `url`, and what to do next.
Error unreachable(std::string_view url, const Error& error);

// Whether the same request may do better after a failure of the connection.
bool is_transient(const Error& error);

}  // namespace leat::s3client
