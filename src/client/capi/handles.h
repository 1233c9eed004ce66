// What the handles of leat.h are, and how its functions report. Only for this module.
//
// No exception leaves a function of leat.h: guard() turns what a library below throws (memory that
// ran out, above all) into an error like any other.
#pragma once

#include <leat/leat.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <string>

#include "dataset/dataset.h"
#include "feed/feed.h"
#include "session/session.h"

struct leat_error {
  leat_status status = LEAT_INTERNAL;
  std::string message{};
  std::string place{};
};

struct leat_buffer {
  std::string bytes{};
};

struct leat_session {
  std::shared_ptr<leat::session::Session> session{};
  pid_t owner = 0;
  // Memory of loaders, for the next one.
  std::shared_ptr<leat::feed::PieceShelf> shelf = std::make_shared<leat::feed::PieceShelf>();
};

struct leat_dataset {
  std::shared_ptr<const leat::dataset::Dataset> dataset{};
  std::string info{};
};

struct leat_batch {
  leat::feed::BatchHandle batch{};
  pid_t owner = 0;
};

namespace leat::capi {

// What a function of leat.h came to, when it failed.
struct Trouble {
  leat_status status = LEAT_INTERNAL;
  std::string message{};
  std::string place = "{}";
};

template <class T = void>
using Outcome = std::expected<T, Trouble>;

std::unexpected<Trouble> trouble(leat_status status, std::string message);
std::unexpected<Trouble> trouble(const Error& error);
std::unexpected<Trouble> trouble(const feed::Failure& failure);

// The value of a Result, or leave with its error.
#define LEAT_C_TRY(decl, expr)                                            \
  auto LEAT_CONCAT(leat_c_, __LINE__) = (expr);                           \
  if (!LEAT_CONCAT(leat_c_, __LINE__))                                    \
    return ::leat::capi::trouble(LEAT_CONCAT(leat_c_, __LINE__).error()); \
  decl = *std::move(LEAT_CONCAT(leat_c_, __LINE__))
#define LEAT_C_DO(expr)                                                              \
  if (auto LEAT_CONCAT(leat_c_, __LINE__) = (expr); !LEAT_CONCAT(leat_c_, __LINE__)) \
  return ::leat::capi::trouble(LEAT_CONCAT(leat_c_, __LINE__).error())

// As above, of what is an Outcome already.
inline std::unexpected<Trouble> trouble(Trouble of_another) {
  return std::unexpected(std::move(of_another));
}

leat_status report(Trouble trouble, leat_error** error) noexcept;

template <class Body>
leat_status guard(leat_error** error, Body body) noexcept {
  try {
    Outcome<void> outcome = body();
    if (outcome) return LEAT_OK;
    return report(std::move(outcome).error(), error);
  } catch (const std::bad_alloc&) {
    return report({.status = LEAT_INTERNAL, .message = "out of memory"}, error);
  } catch (const std::exception& thrown) {
    return report({.status = LEAT_INTERNAL, .message = thrown.what()}, error);
  } catch (...) {
    return report({.status = LEAT_INTERNAL, .message = "an unknown exception"}, error);
  }
}

inline bool is_forked(pid_t owner) {
  return owner != getpid();
}
// Whether what the process `owner` made is not taken apart: the threads that this needs are not
// there, in a forked child or at the end of the process.
inline bool is_left_alone(pid_t owner) {
  return is_forked(owner) || session::is_process_ending();
}
// Errors: LEAT_FORKED, LEAT_BAD_REQUEST without a session.
Outcome<session::Session*> session_of(const leat_session* session);

leat_buffer* new_buffer(std::string bytes);

}  // namespace leat::capi
