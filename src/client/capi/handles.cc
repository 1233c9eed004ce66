#include "capi/handles.h"

namespace leat::capi {
namespace {

leat_status status_of(Errc code) {
  switch (code) {
    case Errc::bad_request:
    case Errc::method_not_allowed:
    case Errc::length_required:
    case Errc::uri_too_long:
    case Errc::range_not_satisfiable:
    case Errc::head_too_large:
    case Errc::version_not_supported:
    case Errc::not_implemented: return LEAT_BAD_REQUEST;
    case Errc::not_found:
    case Errc::compacted: return LEAT_NOT_FOUND;
    case Errc::unauthenticated:
    case Errc::denied: return LEAT_DENIED;
    case Errc::conflict:
    case Errc::lease_lost:
    case Errc::precondition_failed: return LEAT_CONFLICT;
    case Errc::unavailable:
    case Errc::busy:
    case Errc::outcome_unknown:
    case Errc::closed:
    case Errc::would_block: return LEAT_UNAVAILABLE;
    case Errc::timeout: return LEAT_TIMEOUT;
    case Errc::corrupt: return LEAT_CORRUPT;
    case Errc::io:
    case Errc::no_space: return LEAT_IO;
    case Errc::cancelled: return LEAT_CANCELLED;
    case Errc::too_large: return LEAT_TOO_LARGE;
    case Errc::internal: return LEAT_INTERNAL;
  }
  return LEAT_INTERNAL;
}

}  // namespace

std::unexpected<Trouble> trouble(leat_status status, std::string message) {
  return std::unexpected(Trouble{.status = status, .message = std::move(message)});
}

std::unexpected<Trouble> trouble(const Error& error) {
  const std::string_view detail = error.detail();
  return trouble(status_of(error.code()),
                 std::string(detail.empty() ? traits(error.code()).name : detail));
}

std::unexpected<Trouble> trouble(const feed::Failure& failure) {
  Trouble told = trouble(failure.error).error();
  if (failure.is_decode) told.status = LEAT_DECODE;
  if (!failure.place.empty()) told.place = failure.place;
  return std::unexpected(std::move(told));
}

leat_status report(Trouble trouble, leat_error** error) noexcept {
  const leat_status status = trouble.status;
  if (error == nullptr) return status;
  *error =
      new (std::nothrow) leat_error{status, std::move(trouble.message), std::move(trouble.place)};
  return status;
}

Outcome<session::Session*> session_of(const leat_session* session) {
  if (session == nullptr) return trouble(LEAT_BAD_REQUEST, "there is no session");
  if (is_forked(session->owner)) {
    return trouble(LEAT_FORKED,
                   "the session was made before this process was forked: connect anew");
  }
  return session->session.get();
}

leat_buffer* new_buffer(std::string bytes) {
  return new leat_buffer{std::move(bytes)};
}

}  // namespace leat::capi

extern "C" {

int leat_abi_version(void) {
  return LEAT_ABI_VERSION;
}

const char* leat_version(void) {
  return LEAT_VERSION;
}

leat_status leat_error_status(const leat_error* error) {
  return error == nullptr ? LEAT_OK : error->status;
}

const char* leat_error_message(const leat_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

const char* leat_error_place(const leat_error* error) {
  return error == nullptr ? "{}" : error->place.c_str();
}

void leat_error_free(leat_error* error) {
  delete error;
}

const uint8_t* leat_buffer_data(const leat_buffer* buffer) {
  return buffer == nullptr ? nullptr : reinterpret_cast<const uint8_t*>(buffer->bytes.c_str());
}

size_t leat_buffer_size(const leat_buffer* buffer) {
  return buffer == nullptr ? 0 : buffer->bytes.size();
}

void leat_buffer_free(leat_buffer* buffer) {
  delete buffer;
}

}  // extern "C"
