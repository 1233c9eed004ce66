#include "leat/command.h"

#include <fmt/format.h>

#include <cstdio>

#include "leat/harmless.h"

namespace leat::programs {

Exit exit_for(Errc code) {
  switch (code) {
    case Errc::bad_request:
    case Errc::method_not_allowed:
    case Errc::length_required:
    case Errc::uri_too_long:
    case Errc::head_too_large:
    case Errc::range_not_satisfiable: return Exit::usage;
    case Errc::unauthenticated:
    case Errc::denied: return Exit::denied;
    case Errc::not_found: return Exit::not_found;
    case Errc::conflict:
    case Errc::lease_lost:
    case Errc::precondition_failed: return Exit::conflict;
    case Errc::timeout:
    case Errc::unavailable:
    case Errc::busy:
    case Errc::closed:
    case Errc::would_block: return Exit::temporary;
    case Errc::corrupt: return Exit::damaged;
    case Errc::too_large:
    case Errc::no_space: return Exit::limit;
    case Errc::compacted:
    case Errc::outcome_unknown:
    case Errc::io:
    case Errc::internal:
    case Errc::not_implemented:
    case Errc::version_not_supported:
    case Errc::cancelled: return Exit::failed;
  }
  return Exit::failed;
}

Exit complain(const Error& error) {
  const std::string_view detail = error.detail();
  std::string_view rest = detail.empty() ? traits(error.code()).name : detail;
  std::string text;
  // Mistakes in settings are told together, a line each.
  while (rest.contains('\n')) {
    const std::size_t end = rest.find('\n');
    text += harmless(rest.substr(0, end)) + '\n';
    rest.remove_prefix(end + 1);
  }
  fmt::print(stderr, "leat: {}{}\n", text, harmless(rest));
  return exit_for(error.code());
}

Exit complain_usage(std::string_view what, std::string_view usage) {
  fmt::print(stderr, "leat: {}\nusage: {}\n", what, usage);
  return Exit::usage;
}

}  // namespace leat::programs
