// Answers in the words of S3: XML, request ids, and errors that SDKs know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/response.h"
#include "rt/task.h"
#include "s3error/s3error.h"

namespace leat::s3 {

using s3error::refuse;
using s3error::S3Code;
using s3error::S3Error;
using s3error::S3Result;
using s3error::S3Status;

// A coroutine that fails with an S3Error. LEAT_CO_TRY and LEAT_CO_DO work in it.
template <class T>
using S3Task = boost::asio::awaitable<S3Result<T>, rt::Executor>;
using Answer = S3Task<http::Response>;

constexpr std::string_view kNamespace = "http://s3.amazonaws.com/doc/2006-03-01/";
// What AccessDenied says where nobody has said more.
constexpr std::string_view kAccessDenied = "Access Denied";
// Everything belongs to the node.
constexpr std::string_view kOwner = "leat";

// The refusal with AWS's sentence for the code.
std::unexpected<S3Error> refuse(S3Code code);

// InvalidBucketName, with the rule that the name breaks.
std::unexpected<S3Error> refuse_name(std::string_view bucket);

// What a layer below said, in S3's words; `missing` is what it means by not_found.
S3Error told(const Error& error, S3Code missing);
template <class T>
S3Result<T> told(Result<T>&& result, S3Code missing = S3Code::no_such_key) {
  if (!result) return std::unexpected(told(result.error(), missing));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

struct Context {
  std::string_view resource;  // the path, as sent
  std::uint64_t request_id = 0;
};

http::Response error_answer(const S3Error& error, const Context& context);
http::Response xml_answer(int status, std::string body);
// What every answer of the S3 API has.
void add_ids(http::Response& response, std::uint64_t request_id);

// "2026-11-16T05:00:00.000Z"
std::string iso_time(std::int64_t ms_since_1970);

}  // namespace leat::s3
