// Strong<T, Tag>: a number that cannot be mistaken for another number of the same width.
//
//   using ShardId = Strong<std::uint32_t, struct ShardIdTag>;
#pragma once

#include <compare>

namespace leat {

template <class T, class Tag>
class Strong {
 public:
  constexpr Strong() = default;
  constexpr explicit Strong(T value) : value_(value) {}
  constexpr T value() const { return value_; }
  friend constexpr auto operator<=>(Strong, Strong) = default;

 private:
  T value_{};
};

}  // namespace leat
