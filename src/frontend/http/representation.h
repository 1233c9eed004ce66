// What a GET or HEAD of stored bytes answers, before the bytes: conditions, ranges, validators.
//
// One place for all front ends, so that a folder, the native API and S3 agree on RFC 9110.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "http/response.h"
#include "http1/request_head.h"

namespace leat::http {

// The version of a thing that is about to be served.
struct Representation {
  std::string_view etag{};  // with its quotes
  WallTime modified{};
  std::uint64_t size_bytes = 0;
  std::string_view content_type{};
};

struct ReadAnswer {
  Response response;
  // The bytes that go with it; nothing for answers without a body.
  struct Range {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  std::optional<Range> range{};
};

// 200, 206, 304 or 416, with the header fields of each. Errors: precondition_failed, bad_request.
Result<ReadAnswer> answer_read(const http1::RequestHead& head, const Representation& selected);

}  // namespace leat::http
