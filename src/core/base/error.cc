#include "base/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace leat {
namespace {

constexpr std::array kTraits = {
#define LEAT_X(name, http, s3, err, retry) ErrcTraits{#name, http, s3, err, retry},
    LEAT_ERRC_TABLE(LEAT_X)
#undef LEAT_X
};

}  // namespace

const ErrcTraits& traits(Errc code) {
  return kTraits[static_cast<std::size_t>(code)];
}

Errc errc_from_errno(int posix_errno) {
  switch (posix_errno) {
    case ENOENT:
    case ENOTDIR: return Errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return Errc::denied;
    case EEXIST:
    case EISDIR:
    case ENOTEMPTY: return Errc::conflict;
    case ENOSPC:
    case EDQUOT: return Errc::no_space;
    case EAGAIN: return Errc::would_block;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS: return Errc::busy;
    case ETIMEDOUT: return Errc::timeout;
    case ECANCELED: return Errc::cancelled;
    case EPIPE:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN: return Errc::closed;
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH: return Errc::unavailable;
    case EADDRINUSE: return Errc::conflict;
    case EINVAL:
    case ENAMETOOLONG: return Errc::bad_request;
    default: return Errc::io;
  }
}

Error Error::from_errno(int posix_errno, std::string_view what) {
  return Error(errc_from_errno(posix_errno),
               fmt::format("{}: {}", what, std::generic_category().message(posix_errno)));
}

std::string Error::message() const {
  if (!detail_) return std::string(traits(code_).name);
  return fmt::format("{}: {}", traits(code_).name, *detail_);
}

}  // namespace leat
