// Policy, CORS and lifecycle of a bucket: kept as properties, each a document.
#include "s3/configuration.h"

#include <fmt/format.h>

#include "base/check.h"
#include "expiry/object_tags.h"
#include "http1/date.h"
#include "http1/uri.h"
#include "s3/bucket_rules.h"
#include "s3/public_access.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

using http::Response;

// The kept document, or what S3 says when there is none.
S3Result<std::string> kept(const Call& call, std::string_view property, S3Code missing,
                           std::string_view sentence) {
  const std::string* text = find_property(call.bucket, property);
  if (text == nullptr) return refuse(missing, std::string(sentence));
  return *text;
}

S3Task<void> keep(Call& call, std::string_view property, std::optional<std::string> text) {
  auto setting = call.store().set_property(call.bucket.id, std::string(property), std::move(text));
  co_return told(co_await std::move(setting), S3Code::no_such_bucket);
}

constexpr std::string_view kNoPolicy = "The bucket policy does not exist";
constexpr std::string_view kNoCors = "The CORS configuration does not exist";
constexpr std::string_view kNoLifecycle = "The lifecycle configuration does not exist";

std::unexpected<S3Error> forbidden(std::string_view why) {
  return refuse(S3Code::access_forbidden, fmt::format("CORSResponse: {}", why));
}

}  // namespace

Answer get_bucket_policy(Call& call) {
  LEAT_CO_TRY(std::string text,
              kept(call, kPolicyProperty, S3Code::no_such_bucket_policy, kNoPolicy));
  co_return Response::text(200, "application/json", std::move(text));
}

Answer put_bucket_policy(Call& call) {
  const DocumentForm form{.max_bytes = access::kPolicyMaxBytes};
  LEAT_CO_TRY(std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const auto policy, access::BucketPolicy::parse(text, call.target.bucket));
  if (policy.is_public() && public_access_block(call.bucket).refuses_policy) {
    co_return refuse(S3Code::access_denied,
                     "The public access block of the bucket keeps its policy from being public.");
  }
  LEAT_CO_DO(co_await keep(call, kPolicyProperty, std::move(text)));
  co_return Response(204);
}

Answer delete_bucket_policy(Call& call) {
  LEAT_CO_DO(co_await keep(call, kPolicyProperty, std::nullopt));
  co_return Response(204);
}

Answer get_bucket_policy_status(Call& call) {
  const auto policy = call.tools.rules.policy(call.bucket);
  if (policy == nullptr) {
    co_return refuse(S3Code::no_such_bucket_policy, std::string(kNoPolicy));
  }
  std::string body;
  xml::Writer xml(body);
  xml.open("PolicyStatus", kNamespace);
  xml.element("IsPublic", policy->is_public());
  xml.close();
  co_return xml_answer(200, std::move(body));
}

Answer get_cors(Call& call) {
  LEAT_CO_TRY(std::string text,
              kept(call, kCorsProperty, S3Code::no_such_cors_configuration, kNoCors));
  co_return xml_answer(200, std::move(text));
}

Answer put_cors(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const auto rules, cors::parse_cors(text));
  LEAT_CO_DO(co_await keep(call, kCorsProperty, cors::write_cors(rules)));
  co_return Response(200);
}

Answer delete_cors(Call& call) {
  LEAT_CO_DO(co_await keep(call, kCorsProperty, std::nullopt));
  co_return Response(204);
}

Answer get_lifecycle(Call& call) {
  LEAT_CO_TRY(std::string text, kept(call, lifecycle::kProperty,
                                     S3Code::no_such_lifecycle_configuration, kNoLifecycle));
  co_return xml_answer(200, std::move(text));
}

Answer put_lifecycle(Call& call) {
  const DocumentForm form{.max_bytes = lifecycle::kDocumentMaxBytes};
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const auto rules, lifecycle::parse_lifecycle(text));
  LEAT_CO_DO(co_await keep(call, lifecycle::kProperty, lifecycle::write_lifecycle(rules)));
  co_return Response(200);
}

Answer delete_lifecycle(Call& call) {
  LEAT_CO_DO(co_await keep(call, lifecycle::kProperty, std::nullopt));
  co_return Response(204);
}

// Who sends it is not known, and cannot be: browsers send no credentials with it. A bucket that is
// not there looks like one without rules.
Answer preflight(Call& call) {
  const http1::HeaderBlock& headers = call.exchange.head.headers;
  const cors::Question question{
      .origin = headers.find("Origin").value_or(""),
      .method = headers.find("Access-Control-Request-Method").value_or(""),
      .headers = headers.find("Access-Control-Request-Headers").value_or("")};
  if (question.origin.empty()) {
    co_return refuse(S3Code::bad_request,
                     "Insufficient information. Origin request header needed.");
  }
  if (question.method.empty()) {
    co_return refuse(S3Code::bad_request, "Invalid Access-Control-Request-Method: null");
  }
  const store::BucketTablePtr table = call.store().buckets();
  const record::Bucket* bucket = table->find(call.target.bucket);
  const auto rules = bucket != nullptr ? call.tools.rules.cors(*bucket) : nullptr;
  if (rules == nullptr) co_return forbidden("CORS is not enabled for this bucket.");
  const cors::Rule* rule = cors::find_rule(*rules, question);
  if (rule == nullptr) {
    co_return forbidden(
        "This CORS request is not allowed. This is usually because the evalution of Origin, "
        "request method / Access-Control-Request-Method or Access-Control-Request-Headers are not "
        "whitelisted by the resource's CORS spec.");
  }
  Response response(200);
  response.add_checked(cors::fields_of(*rule, question));
  co_return response;
}

void add_cors(Tools& tools, const http1::RequestHead& head, std::string_view bucket,
              Response& response) {
  const auto origin = head.headers.find("Origin");
  if (!origin || head.method == http1::Method::options) return;
  const store::BucketTablePtr table = tools.store.buckets();
  const record::Bucket* found = table->find(bucket);
  const auto rules = found != nullptr ? tools.rules.cors(*found) : nullptr;
  if (rules == nullptr) return;
  const cors::Question question{.origin = *origin, .method = head.method_text};
  const cors::Rule* rule = cors::find_rule(*rules, question);
  if (rule != nullptr) response.add_checked(cors::fields_of(*rule, question));
}

void add_expiration(const Call& call, const record::Version& version, Response& response) {
  const auto rules = call.tools.rules.lifecycle(call.bucket);
  if (rules == nullptr) return;
  const auto tags = expiry::tags_of(version.attributes);
  const lifecycle::Object object{.key = call.target.key,
                                 .size_bytes = version.size_bytes,
                                 .modified_ms = version.modified_ms,
                                 .tags = tags};
  const auto due = lifecycle::expiry_of(*rules, object, call.tools.options.day_ms);
  if (!due) return;
  // A name of a rule may have any characters; encoded it cannot end the field.
  response.add_checked(
      fmt::format("x-amz-expiration: expiry-date=\"{}\", rule-id=\"{}\"\r\n",
                  http1::DateText(WallTime(std::chrono::milliseconds(due->at_ms))).text(),
                  http1::percent_encode(due->rule, http1::Slash::encode)));
}

}  // namespace leat::s3
