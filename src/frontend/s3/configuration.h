// What buckets' configurations mean for answers of other operations.
#pragma once

#include "http1/request_head.h"
#include "s3/call.h"

namespace leat::s3 {

// The fields of CORS, on an answer of any status, if the request comes from a page and a rule of
// the bucket allows its origin.
void add_cors(Tools& tools, const http1::RequestHead& head, std::string_view bucket,
              http::Response& response);

// x-amz-expiration, if a rule of the bucket will remove the object.
void add_expiration(const Call& call, const record::Version& version, http::Response& response);

}  // namespace leat::s3
