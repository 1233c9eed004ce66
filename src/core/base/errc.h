// Errc: every way an operation of Leat can fail, in one table.
//
// A code exists only if some caller reacts to it differently from the others; everything else about
// a failure is text in the Error. The columns are what the outside sees: the HTTP status, the S3
// code, the errno for the mount, and whether the same request may succeed if it is sent again.
#pragma once

#include <cstdint>
#include <string_view>

namespace leat {

// X(name, HTTP status, S3 code, errno, retryable)
#define LEAT_ERRC_TABLE(X)                                                \
  X(bad_request, 400, "InvalidRequest", EINVAL, false)                    \
  X(unauthenticated, 401, "AccessDenied", EACCES, false)                  \
  X(denied, 403, "AccessDenied", EACCES, false)                           \
  X(not_found, 404, "NoSuchKey", ENOENT, false)                           \
  X(method_not_allowed, 405, "MethodNotAllowed", EPERM, false)            \
  X(timeout, 408, "RequestTimeout", ETIMEDOUT, true)                      \
  X(conflict, 409, "OperationAborted", EEXIST, true)                      \
  X(lease_lost, 409, "OperationAborted", ESTALE, false)                   \
  X(compacted, 410, "InvalidRequest", ESTALE, false)                      \
  X(length_required, 411, "MissingContentLength", EINVAL, false)          \
  X(precondition_failed, 412, "PreconditionFailed", EEXIST, false)        \
  X(too_large, 413, "EntityTooLarge", EFBIG, false)                       \
  X(uri_too_long, 414, "KeyTooLongError", ENAMETOOLONG, false)            \
  X(range_not_satisfiable, 416, "InvalidRange", EINVAL, false)            \
  X(head_too_large, 431, "RequestHeaderSectionTooLarge", EMSGSIZE, false) \
  X(corrupt, 500, "InternalError", EIO, false)                            \
  X(io, 500, "InternalError", EIO, true)                                  \
  X(internal, 500, "InternalError", EIO, false)                           \
  X(not_implemented, 501, "NotImplemented", ENOSYS, false)                \
  X(unavailable, 503, "ServiceUnavailable", EAGAIN, true)                 \
  X(outcome_unknown, 503, "ServiceUnavailable", EIO, false)               \
  X(busy, 503, "SlowDown", EAGAIN, true)                                  \
  X(version_not_supported, 505, "NotImplemented", EPROTONOSUPPORT, false) \
  X(no_space, 507, "InsufficientStorage", ENOSPC, true)                   \
  X(cancelled, 499, "RequestTimeout", ECANCELED, true)                    \
  X(closed, 499, "RequestTimeout", EPIPE, true)                           \
  X(would_block, 503, "SlowDown", EAGAIN, true)

enum class Errc : std::uint8_t {
#define LEAT_X(name, http, s3, err, retry) name,
  LEAT_ERRC_TABLE(LEAT_X)
#undef LEAT_X
};

struct ErrcTraits {
  std::string_view name;
  int http_status;
  std::string_view s3_code;
  int posix_errno;
  bool retryable;
};

const ErrcTraits& traits(Errc code);

// The code that best says what an errno means. Unknown ones are Errc::io.
Errc errc_from_errno(int posix_errno);

}  // namespace leat
