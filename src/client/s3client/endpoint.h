// Endpoint: where an S3 service answers, from its URL.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "io/stream.h"

namespace leat::s3client {

struct Endpoint {
  io::Address address{};
  bool is_encrypted = false;
  std::string host{};  // the Host field: without the port that the scheme has anyway
  std::string url{};   // for messages

  bool operator==(const Endpoint&) const = default;
};

// "http://127.0.0.1:9000", "https://s3.example"; without a scheme it is plain HTTP.
// Errors: bad_request, for other schemes and for URLs with a path.
Result<Endpoint> parse_endpoint(std::string_view url);

}  // namespace leat::s3client
