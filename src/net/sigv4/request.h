// A request as its signature sees it. Path and query are decoded here, once: what is verified is
// what is served, byte for byte (abuse case 35).
//
// Lifetime: method and headers are views into what the request was made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http1/message.h"
#include "http1/request_head.h"
#include "http1/uri.h"
#include "s3error/s3error.h"

namespace leat::sigv4 {

using s3error::refuse;
using s3error::S3Code;
using s3error::S3Error;
using s3error::S3Result;
using s3error::S3Status;

struct Request {
  std::string_view method{};
  std::string path{};                         // decoded; nothing else is done to it
  std::vector<http1::QueryPair> query{};      // decoded, in the order they came
  std::vector<http1::HeaderField> headers{};  // as they came

  // The value of the only field of that name, or nothing.
  // Errors: InvalidRequest if it stands there twice.
  S3Result<std::optional<std::string_view>> header(std::string_view name) const;
};

// Errors: InvalidURI.
S3Result<Request> request_of(const http1::RequestHead& head);

}  // namespace leat::sigv4
