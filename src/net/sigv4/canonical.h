// The canonical request: the one text that signer and verifier must agree on (SigV4 as S3 has it:
// the path is encoded once and never normalised).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sigv4/request.h"

namespace leat::sigv4 {

// Every byte but A–Z a–z 0–9 - . _ ~ / as %XX; "/" for an empty path.
std::string canonical_path(std::string_view decoded_path);

// "name=value" pairs, encoded, sorted by their encoded bytes. X-Amz-Signature is left out: it signs
// the others.
std::string canonical_query(std::span<const http1::QueryPair> query);

// Fields of one name joined by ',', blanks around the values gone, runs of blanks inside one space.
std::string canonical_value(const Request& request, std::string_view name);

// `signed_headers` are lower-case names in the order of the signature; `payload_word` is the value
// of x-amz-content-sha256.
std::string canonical_request(const Request& request, std::span<const std::string> signed_headers,
                              std::string_view payload_word);

// "host;x-amz-date"
std::string join_names(std::span<const std::string> signed_headers);

}  // namespace leat::sigv4
