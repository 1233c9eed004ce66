// Percent encoding and query strings, as S3 writes them.
//
// Paths and queries are decoded once, here, and never again: "%252e" becomes "%2e" and stays it.
// What the decoded bytes may be (NUL, "..") is for the owner of the names to say.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace leat::http1 {

// '+' stays a plus.
// Errors: bad_request if a '%' is not followed by two hexadecimal digits.
Result<std::string> percent_decode(std::string_view text);

enum class Slash : std::uint8_t { encode, keep };

// Appends `text` with every byte but A–Z a–z 0–9 '-' '_' '.' '~' (and '/' if kept) as %XX, upper
// case: the form SigV4 signs.
void append_percent_encoded(std::string& out, std::string_view text, Slash slash);
std::string percent_encode(std::string_view text, Slash slash);

struct QueryPair {
  std::string name;
  std::string value;

  bool operator==(const QueryPair&) const = default;
};

constexpr std::size_t kQueryPairsMax = 256;

// The pairs of "a=b&c" in their order, decoded. A name ends at its first '='; without one the
// value is empty. Empty pieces ("&&") are skipped.
// Errors: bad_request for a bad escape or more than `pairs_max` pairs.
Result<std::vector<QueryPair>> parse_query(std::string_view query,
                                           std::size_t pairs_max = kQueryPairsMax);

}  // namespace leat::http1
