// Error: what went wrong (Errc) and, if somebody could say it better, a sentence about it.
//
// 16 bytes, so that Result<T> stays cheap on the path where nothing fails; the sentence lives
// behind a pointer. Context is added once, at the boundary that knows the name of the thing.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/errc.h"

namespace leat {

class [[nodiscard]] Error {
 public:
  explicit Error(Errc code) : code_(code) {}
  Error(Errc code, std::string detail)
      : detail_(std::make_unique<std::string>(std::move(detail))), code_(code) {}

  // Names the failing call and file: "open /data/x: No such file or directory".
  static Error from_errno(int posix_errno, std::string_view what);

  Errc code() const { return code_; }
  std::string_view detail() const { return detail_ ? std::string_view(*detail_) : ""; }

  // "not_found: open /data/x: No such file or directory"; just the code's name without detail.
  std::string message() const;

  Error clone() const { return detail_ ? Error(code_, *detail_) : Error(code_); }

 private:
  std::unique_ptr<std::string> detail_;
  Errc code_;
};

static_assert(sizeof(Error) == 16);

}  // namespace leat
