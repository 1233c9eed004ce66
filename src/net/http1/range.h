// One byte range out of a Range field (RFC 9110 §14), as S3 reads it.
//
// A Range that Leat does not serve (another unit, several ranges, wrong syntax) is ignored and the
// whole object is sent: the answer is right, only longer. Numbers beyond 64 bits saturate, so
// clients that ask for "the rest" with 2^64-2 or more digits get the rest (abuse case 33).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace leat::http1 {

struct RangeChoice {
  enum class Kind : std::uint8_t {
    whole,          // 200 with everything
    part,           // 206 with [first, last]
    unsatisfiable,  // 416
  };
  Kind kind = Kind::whole;
  std::uint64_t first = 0;  // of a part: first ≤ last < size
  std::uint64_t last = 0;

  bool operator==(const RangeChoice&) const = default;
};

// What to serve of an object of `size` bytes. An empty `header` means the request had no Range.
// Nothing of an empty object is a part of it: any valid range is then unsatisfiable.
RangeChoice parse_range(std::string_view header, std::uint64_t size);

// Appends the value of Content-Range: "bytes 0-4/10" for a part, "bytes */10" for an unsatisfiable
// one.
// Requires: kind is not whole.
void append_content_range(std::string& out, const RangeChoice& range, std::uint64_t size);

}  // namespace leat::http1
