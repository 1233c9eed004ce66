// Calls of Leat's own API, below /_/v1/, in JSON.
//
//   NativeCall call{.method = "POST", .path = "datasets/imagenet/train"};
//   call.query = {{"commit", ""}};
//   call.body = R"({"add": ["train/000000.tar"]})";
//   LEAT_CO_TRY(const std::string answer, co_await call_native(client, std::move(call)));
//
// Signed with the access key of S3, sent again when that may help. What the service says about a
// failure is the error: its code by name, its sentence as it stands.
//
// Shard: the client's. Lifetime: the client outlives the tasks.
#pragma once

#include <string>
#include <vector>

#include "s3client/s3client.h"

namespace leat::dataset {

struct NativeCall {
  std::string method = "GET";
  std::string path{};  // what stands behind "/_/v1/", not encoded
  std::vector<http1::QueryPair> query{};
  std::string body{};  // JSON, or nothing
};

// The text of a good answer: JSON, or nothing. A commit or an adoption that has no transaction gets
// one: it may be sent twice, and is made once.
rt::Task<std::string> call_native(s3client::S3Client& client, NativeCall call);

// "datasets/imagenet/train@7?log&max=5", percent-encoded, as path and query of a call.
// Errors: bad_request.
Result<NativeCall> native_target(std::string_view target);

// The request, for who reads the answer's body by himself. Lifetime: `call` outlives it.
s3client::Request native_request(const NativeCall& call);

}  // namespace leat::dataset
