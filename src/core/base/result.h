// Result<T>: a value or an Error. The only way a function of Leat reports failure.
//
// It is std::expected with two additions: a dropped Result is a compile error, and the macros below
// leave the enclosing function on failure. Expected outcomes and a failing world are Results; bugs
// are LEAT_CHECK (base/check.h). See docs/adr/0002-errors-are-values.md.
#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace leat {

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

using Status = Result<void>;

// return fail(Errc::not_found, "bucket photos");
inline std::unexpected<Error> fail(Errc code) {
  return std::unexpected(Error(code));
}
inline std::unexpected<Error> fail(Errc code, std::string detail) {
  return std::unexpected(Error(code, std::move(detail)));
}
inline std::unexpected<Error> fail(Error&& error) {
  return std::unexpected(std::move(error));
}
inline std::unexpected<Error> fail(const Error& error) {
  return std::unexpected(error.clone());
}

}  // namespace leat

#define LEAT_CONCAT_INNER(a, b) a##b
#define LEAT_CONCAT(a, b) LEAT_CONCAT_INNER(a, b)
#define LEAT_TRY_WITH(ret, tmp, decl, expr)                  \
  auto tmp = (expr);                                         \
  if (!tmp) ret ::std::unexpected(::std::move(tmp).error()); \
  decl = *::std::move(tmp)
#define LEAT_DO_WITH(ret, tmp, expr) \
  if (auto tmp = (expr); !tmp) ret ::std::unexpected(::std::move(tmp).error())

// LEAT_TRY(auto file, disk.open(path));     the value, or return the error
// LEAT_DO(file.sync());                     nothing, or return the error
// LEAT_CO_TRY, LEAT_CO_DO: the same inside a coroutine; `expr` may hold one co_await.
#define LEAT_TRY(decl, expr) LEAT_TRY_WITH(return, LEAT_CONCAT(leat_try_, __LINE__), decl, expr)
#define LEAT_DO(expr) LEAT_DO_WITH(return, LEAT_CONCAT(leat_do_, __LINE__), expr)
#define LEAT_CO_TRY(decl, expr) \
  LEAT_TRY_WITH(co_return, LEAT_CONCAT(leat_try_, __LINE__), decl, expr)
#define LEAT_CO_DO(expr) LEAT_DO_WITH(co_return, LEAT_CONCAT(leat_do_, __LINE__), expr)
