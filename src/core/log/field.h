// Field: one key and value of a log line. Value borrows what it shows, and Secret shows nothing.
//
// Lifetime: fields are made in the call that logs them and are formatted before it returns; do not
// keep one.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/time.h"

namespace leat::log {

// Text that must not be printed: keys, tokens. It has no stream or fmt operator on purpose, and a
// log shows `[redacted]`; whoever needs the text says reveal(), which is easy to find in a review.
class Secret {
 public:
  explicit Secret(std::string text) : text_(std::move(text)) {}
  std::string_view reveal() const { return text_; }

 private:
  std::string text_;
};

class Value {
 public:
  struct Redacted {};
  using Variant = std::variant<Redacted, std::string_view, std::int64_t, std::uint64_t, double,
                               bool, Duration, const Error*>;

  // Implicit, so that {"shards", 2} is a field. Templates, so that a pointer is never a bool.
  template <std::convertible_to<std::string_view> T>
  Value(const T& text) : variant_(std::string_view(text)) {}
  template <std::same_as<bool> T>
  Value(T truth) : variant_(truth) {}
  template <std::signed_integral T>
  Value(T number) : variant_(std::int64_t{number}) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Value(T number) : variant_(std::uint64_t{number}) {}
  template <std::floating_point T>
  Value(T number) : variant_(double{number}) {}
  template <class Rep, class Period>
  Value(std::chrono::duration<Rep, Period> time) : variant_(Duration(time)) {}
  Value(const Error& error) : variant_(&error) {}
  Value(const Secret&) : variant_(Redacted{}) {}

  const Variant& variant() const { return variant_; }

 private:
  Variant variant_;
};

struct Field {
  std::string_view key;
  Value value;
};

}  // namespace leat::log
