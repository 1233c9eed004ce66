// What S3 says when it refuses: a code that clients branch on, a sentence for people, and sometimes
// further elements of the answer (<Region>, <HeadersNotSigned>).
//
// Errc (core/base) is how Leat fails; these are names of a foreign protocol, spelled as SDKs expect
// them. A function that judges an S3 request returns an S3Result, with LEAT_TRY and LEAT_DO as
// usual; `from_error` takes over what the layers below say.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace leat::s3error {

// X(name, HTTP status, code)
#define LEAT_S3_CODES(X)                                                            \
  X(authorization_header_malformed, 400, "AuthorizationHeaderMalformed")            \
  X(authorization_query_parameters_error, 400, "AuthorizationQueryParametersError") \
  X(bad_digest, 400, "BadDigest")                                                   \
  X(bad_request, 400, "BadRequest")                                                 \
  X(entity_too_large, 400, "EntityTooLarge")                                        \
  X(entity_too_small, 400, "EntityTooSmall")                                        \
  X(incomplete_body, 400, "IncompleteBody")                                         \
  X(invalid_argument, 400, "InvalidArgument")                                       \
  X(invalid_bucket_name, 400, "InvalidBucketName")                                  \
  X(invalid_chunk_size, 400, "InvalidChunkSizeError")                               \
  X(invalid_digest, 400, "InvalidDigest")                                           \
  X(invalid_location_constraint, 400, "InvalidLocationConstraint")                  \
  X(invalid_part, 400, "InvalidPart")                                               \
  X(invalid_part_order, 400, "InvalidPartOrder")                                    \
  X(invalid_request, 400, "InvalidRequest")                                         \
  X(invalid_tag, 400, "InvalidTag")                                                 \
  X(invalid_uri, 400, "InvalidURI")                                                 \
  X(key_too_long, 400, "KeyTooLongError")                                           \
  X(malformed_policy, 400, "MalformedPolicy")                                       \
  X(malformed_trailer, 400, "MalformedTrailerError")                                \
  X(malformed_xml, 400, "MalformedXML")                                             \
  X(max_message_length_exceeded, 400, "MaxMessageLengthExceeded")                   \
  X(metadata_too_large, 400, "MetadataTooLarge")                                    \
  X(missing_request_body, 400, "MissingRequestBodyError")                           \
  X(request_header_section_too_large, 400, "RequestHeaderSectionTooLarge")          \
  X(request_timeout, 400, "RequestTimeout")                                         \
  X(content_sha256_mismatch, 400, "XAmzContentSHA256Mismatch")                      \
  X(access_denied, 403, "AccessDenied")                                             \
  X(access_forbidden, 403, "AccessForbidden") /* by CORS */                         \
  X(invalid_access_key_id, 403, "InvalidAccessKeyId")                               \
  X(quota_exceeded, 403, "QuotaExceeded")                                           \
  X(request_time_too_skewed, 403, "RequestTimeTooSkewed")                           \
  X(signature_does_not_match, 403, "SignatureDoesNotMatch")                         \
  X(no_such_bucket, 404, "NoSuchBucket")                                            \
  X(no_such_bucket_policy, 404, "NoSuchBucketPolicy")                               \
  X(no_such_cors_configuration, 404, "NoSuchCORSConfiguration")                     \
  X(no_such_key, 404, "NoSuchKey")                                                  \
  X(no_such_lifecycle_configuration, 404, "NoSuchLifecycleConfiguration")           \
  X(no_such_public_access_block, 404, "NoSuchPublicAccessBlockConfiguration")       \
  X(no_such_tag_set, 404, "NoSuchTagSet")                                           \
  X(no_such_upload, 404, "NoSuchUpload")                                            \
  X(no_such_version, 404, "NoSuchVersion")                                          \
  X(method_not_allowed, 405, "MethodNotAllowed")                                    \
  X(bucket_already_exists, 409, "BucketAlreadyExists")                              \
  X(bucket_already_owned_by_you, 409, "BucketAlreadyOwnedByYou")                    \
  X(bucket_not_empty, 409, "BucketNotEmpty")                                        \
  X(conditional_request_conflict, 409, "ConditionalRequestConflict")                \
  X(operation_aborted, 409, "OperationAborted")                                     \
  X(missing_content_length, 411, "MissingContentLength")                            \
  X(precondition_failed, 412, "PreconditionFailed")                                 \
  X(invalid_range, 416, "InvalidRange")                                             \
  X(invalid_part_number, 416, "InvalidPartNumber")                                  \
  X(internal_error, 500, "InternalError")                                           \
  X(not_implemented, 501, "NotImplemented")                                         \
  X(service_unavailable, 503, "ServiceUnavailable")                                 \
  X(slow_down, 503, "SlowDown")                                                     \
  X(insufficient_storage, 507, "InsufficientStorage")

enum class S3Code : std::uint8_t {
#define LEAT_X(name, status, text) name,
  LEAT_S3_CODES(LEAT_X)
#undef LEAT_X
};

int http_status(S3Code code);
std::string_view text_of(S3Code code);  // "NoSuchKey"

struct S3Error {
  S3Code code = S3Code::internal_error;
  std::string message{};
  // Elements of the answer besides Code and Message, in order. Names are constants.
  std::vector<std::pair<std::string_view, std::string>> details{};
  // Fields of the answer's head. Values are the server's own words.
  std::vector<std::pair<std::string_view, std::string>> fields{};
};

template <class T>
class [[nodiscard]] S3Result : public std::expected<T, S3Error> {
 public:
  using std::expected<T, S3Error>::expected;
};
using S3Status = S3Result<void>;

// return refuse(S3Code::no_such_key, "The specified key does not exist.");
inline std::unexpected<S3Error> refuse(S3Code code, std::string message) {
  return std::unexpected(
      S3Error{.code = code, .message = std::move(message), .details = {}, .fields = {}});
}

// The code of the same failure in S3's words, by the table of Errc; internal_error if S3 has none.
S3Error from_error(const Error& error);

}  // namespace leat::s3error
