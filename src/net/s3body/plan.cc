#include "s3body/plan.h"

#include <algorithm>

#include "base/encoding.h"
#include "http1/grammar.h"

namespace leat::s3body {
namespace {

using hash::ChecksumAlgorithm;
using hash::ChecksumValue;
using http1::equals_ignore_case;
using sigv4::Request;

constexpr std::string_view kChecksumPrefix = "x-amz-checksum-";

std::unexpected<S3Error> contradiction(std::string why) {
  return refuse(S3Code::invalid_request, std::move(why));
}

bool starts_ignoring_case(std::string_view text, std::string_view prefix) {
  return equals_ignore_case(text.substr(0, prefix.size()), prefix);
}

// x-amz-checksum-… fields that are about checksums, not one.
bool is_about_checksums(std::string_view name) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"mode", "type", "algorithm"},
                             [name](std::string_view word) {
                               return equals_ignore_case(name.substr(kChecksumPrefix.size()), word);
                             });
}

S3Result<ChecksumAlgorithm> algorithm_of(std::string_view name) {
  if (const auto algorithm = hash::algorithm_from_header(name)) return *algorithm;
  return refuse(S3Code::not_implemented,
                "The checksum " + std::string(name) + " is not implemented.");
}

S3Status choose(UploadPlan& plan, ChecksumAlgorithm algorithm) {
  if (plan.checksum_is_chosen) {
    return contradiction(
        "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
  }
  plan.checksum = algorithm;
  plan.checksum_is_chosen = true;
  return {};
}

S3Status read_checksum(UploadPlan& plan, std::string_view name, std::string_view value) {
  if (!starts_ignoring_case(name, kChecksumPrefix) || is_about_checksums(name)) return {};
  LEAT_TRY(const ChecksumAlgorithm algorithm, algorithm_of(name));
  LEAT_DO(choose(plan, algorithm));
  plan.expected_checksum = ChecksumValue::from_base64(algorithm, value);
  if (plan.expected_checksum) return {};
  return contradiction("Value for " + std::string(name) + " header is invalid.");
}

S3Status read_checksums(const Request& request, UploadPlan& plan) {
  for (const http1::QueryPair& pair : request.query)
    LEAT_DO(read_checksum(plan, pair.name, pair.value));
  plan.checksum_is_in_query = plan.checksum_is_chosen;
  for (const http1::HeaderField& field : request.headers)
    LEAT_DO(read_checksum(plan, field.name, field.value));
  return {};
}

S3Status read_trailers(const Request& request, UploadPlan& plan) {
  for (const http1::HeaderField& field : request.headers) {
    if (!equals_ignore_case(field.name, "x-amz-trailer")) continue;
    http1::for_each_element(field.value, [&plan](std::string_view name) {
      std::string& trailer = plan.trailers.emplace_back(name);
      std::ranges::transform(trailer, trailer.begin(), http1::to_lower);
    });
  }
  if (!plan.trailers.empty() && !plan.payload.has_trailer())
    return contradiction("x-amz-trailer with an x-amz-content-sha256 that has no trailer.");
  for (const std::string& name : plan.trailers) {
    if (!name.starts_with(kChecksumPrefix) || is_about_checksums(name))
      return contradiction("The value specified in the x-amz-trailer header is not supported");
    LEAT_TRY(const ChecksumAlgorithm algorithm, algorithm_of(name));
    LEAT_DO(choose(plan, algorithm));
  }
  return {};
}

S3Status check_sdk_word(std::string_view word, const UploadPlan& plan) {
  const auto algorithm = hash::algorithm_from_word(word);
  if (!algorithm) return contradiction("Value for x-amz-sdk-checksum-algorithm header is invalid.");
  if (!plan.checksum_is_chosen) {
    return contradiction(
        "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or "
        "x-amz-trailer headers were found.");
  }
  if (*algorithm == plan.checksum) return {};
  return contradiction("x-amz-sdk-checksum-algorithm is not the algorithm of the checksum.");
}

S3Status check_sdk_words(const Request& request, const UploadPlan& plan) {
  constexpr std::string_view kName = "x-amz-sdk-checksum-algorithm";
  LEAT_TRY(const auto in_header, request.header(kName));
  if (in_header) LEAT_DO(check_sdk_word(*in_header, plan));
  for (const http1::QueryPair& pair : request.query) {
    if (equals_ignore_case(pair.name, kName)) LEAT_DO(check_sdk_word(pair.value, plan));
  }
  return {};
}

S3Status read_size(const Request& request, HttpFraming framing, UploadPlan& plan) {
  if (!framing.content_length && !framing.chunked) {
    return refuse(S3Code::missing_content_length,
                  "You must provide the Content-Length HTTP header.");
  }
  if (!plan.payload.is_stream()) {
    plan.size = framing.content_length;
    return {};
  }
  LEAT_TRY(const auto text, request.header("x-amz-decoded-content-length"));
  if (!text) {
    return refuse(S3Code::missing_content_length,
                  "You must provide the x-amz-decoded-content-length HTTP header.");
  }
  plan.size = http1::parse_decimal(*text);
  if (!plan.size) {
    return refuse(S3Code::invalid_argument, "x-amz-decoded-content-length must be a number.");
  }
  if (framing.content_length && *framing.content_length < *plan.size) {
    return refuse(S3Code::incomplete_body,
                  "Content-Length is less than x-amz-decoded-content-length.");
  }
  return {};
}

S3Status read_content_md5(const Request& request, UploadPlan& plan) {
  LEAT_TRY(const auto text, request.header("content-md5"));
  if (!text) return {};
  const auto bytes = from_base64(*text);
  hash::Md5::Value value;
  if (!bytes || bytes->size() != value.size())
    return refuse(S3Code::invalid_digest, "The Content-MD5 you specified is not valid.");
  std::ranges::copy(*bytes, value.begin());
  plan.content_md5 = value;
  return {};
}

}  // namespace

S3Result<UploadPlan> plan_upload(const Request& request, const sigv4::Payload& payload,
                                 HttpFraming framing) {
  UploadPlan plan{.payload = payload};
  LEAT_DO(read_size(request, framing, plan));
  LEAT_DO(read_content_md5(request, plan));
  LEAT_DO(read_checksums(request, plan));
  LEAT_DO(read_trailers(request, plan));
  LEAT_DO(check_sdk_words(request, plan));
  return plan;
}

std::string stored_content_encoding(std::string_view content_encoding) {
  std::string out;
  http1::for_each_element(content_encoding, [&out](std::string_view element) {
    if (equals_ignore_case(element, "aws-chunked")) return;
    if (!out.empty()) out.append(", ");
    out.append(element);
  });
  return out;
}

}  // namespace leat::s3body
