// Buckets.
#include <fmt/format.h>

#include "s3/acl.h"
#include "s3/listing.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

using http::Response;

// Where a new bucket is to be; this node is one place.
S3Status check_location(const std::string& text, const S3Options& options) {
  if (text.empty()) return {};
  const auto document = xml::Document::parse(as_bytes(text));
  if (!document || document->root().name() != "CreateBucketConfiguration") {
    return refuse(S3Code::malformed_xml);
  }
  const xml::Element root = document->root();
  const auto children = root.children();
  for (const xml::Element child : children) {
    if (child.name() != "LocationConstraint") {
      return refuse(S3Code::not_implemented,
                    fmt::format("{} of a bucket is not implemented", child.name()));
    }
  }
  const auto location = root.find_one("LocationConstraint");
  if (!location) return refuse(S3Code::malformed_xml);
  if (!*location) return {};
  const std::string_view name = (*location)->text();
  if (name.empty() || name == options.region || name == "us-east-1") return {};
  return refuse(S3Code::invalid_location_constraint,
                fmt::format("The specified location-constraint is not valid; this store is in {}",
                            options.region));
}

}  // namespace

Answer list_buckets(Call& call) {
  LEAT_CO_TRY(const std::uint64_t max, call.number("max-buckets", 10'000, 10'000));
  const std::string_view prefix = call.query("prefix").value_or("");
  std::string after;
  if (const auto token = call.query("continuation-token"); token && !token->empty()) {
    LEAT_CO_TRY(after, open_token(call, *token));
  }
  std::string body;
  xml::Writer xml(body);
  xml.open("ListAllMyBucketsResult", kNamespace);
  write_person(xml, "Owner");
  xml.open("Buckets");
  std::uint64_t count = 0;
  bool is_truncated = false;
  std::string last;
  const store::BucketTablePtr table = call.store().buckets();
  for (const record::Bucket& bucket : table->all()) {
    const bool is_known = call.caller.who == Who::operators ||
                          (call.caller.key && keys::knows(*call.caller.key, bucket.name));
    if (!is_known || bucket.name <= after || !bucket.name.starts_with(prefix)) continue;
    if (count == max) {
      is_truncated = true;
      break;
    }
    xml.open("Bucket");
    xml.element("Name", bucket.name);
    xml.element("CreationDate", iso_time(bucket.created_ms));
    xml.close();
    last = bucket.name;
    ++count;
  }
  xml.close();
  if (is_truncated) xml.element("ContinuationToken", seal_token(call, last));
  if (!prefix.empty()) xml.element("Prefix", prefix);
  xml.close();
  co_return xml_answer(200, std::move(body));
}

Answer create_bucket(Call& call) {
  if (!is_bucket_name(call.target.bucket)) co_return refuse_name(call.target.bucket);
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_DO(check_location(text, call.tools.options));
  store::BucketOptions options;
  if (call.field(kAcl) == kPublicRead) {
    options.properties.push_back(
        {.name = std::string(kAclProperty), .value = std::string(kPublicRead)});
  }
  auto making = call.store().create_bucket(call.target.bucket, std::move(options));
  const auto made = co_await std::move(making);
  if (!made && made.error().code() == Errc::conflict) {
    co_return refuse(S3Code::bucket_already_owned_by_you);
  }
  if (!made) co_return std::unexpected(told(made.error(), S3Code::no_such_bucket));
  Response response(200);
  LEAT_CO_DO(told(response.add("Location", "/" + call.target.bucket)));
  co_return response;
}

Answer head_bucket(Call& call) {
  Response response(200);
  LEAT_CO_DO(told(response.add("x-amz-bucket-region", call.tools.options.region)));
  LEAT_CO_DO(told(response.add("Content-Type", "application/xml")));
  co_return response;
}

Answer delete_bucket(Call& call) {
  const Status removed = co_await call.store().remove_bucket(call.target.bucket);
  if (removed) co_return Response(204);
  if (removed.error().code() == Errc::conflict) co_return refuse(S3Code::bucket_not_empty);
  co_return std::unexpected(told(removed.error(), S3Code::no_such_bucket));
}

Answer get_bucket_location(Call& call) {
  const std::string& region = call.tools.options.region;
  std::string body;
  xml::Writer xml(body);
  xml.open("LocationConstraint", kNamespace);
  // The first region has no name.
  if (region != "us-east-1") xml::append_escaped(body, region);
  xml.close();
  co_return xml_answer(200, std::move(body));
}

}  // namespace leat::s3
