#include "s3/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "hash/checksum.h"
#include "http1/grammar.h"
#include "http1/uri.h"
#include "s3/answer.h"
#include "s3/target.h"
#include "sigv4/request.h"

namespace leat::s3 {
namespace {

using http::Operation;
using http1::equals_ignore_case;
using http1::Method;
using http1::QueryPair;

enum class Place : std::uint8_t { service, bucket, object };

// The query parameter that makes a request another operation.
enum class Selector : std::uint8_t {
  none,
  location,
  uploads,
  upload_id,
  delete_,
  list_v2,
  tagging,
  versioning,
  versions,
  acl,
  policy,
  policy_status,
  cors,
  lifecycle,
  public_access_block,
  etag_kind,
  durability,
  undo_window,
  attributes,
  part_of_shard,
  members,
};

struct SelectorName {
  std::string_view name;
  Selector selector;
};
constexpr std::array kSelectors = {
    SelectorName{"location", Selector::location},
    SelectorName{"uploads", Selector::uploads},
    SelectorName{"uploadId", Selector::upload_id},
    SelectorName{"delete", Selector::delete_},
    SelectorName{"list-type", Selector::list_v2},
    SelectorName{"tagging", Selector::tagging},
    SelectorName{"versioning", Selector::versioning},
    SelectorName{"versions", Selector::versions},
    SelectorName{"acl", Selector::acl},
    SelectorName{"policy", Selector::policy},
    SelectorName{"policyStatus", Selector::policy_status},
    SelectorName{"cors", Selector::cors},
    SelectorName{"lifecycle", Selector::lifecycle},
    SelectorName{"publicAccessBlock", Selector::public_access_block},
    SelectorName{"attributes", Selector::attributes},
    // Leat's own: how ETags are made, how durable writes are, how long deleted objects stay.
    SelectorName{"leat-etag", Selector::etag_kind},
    SelectorName{"leat-durability", Selector::durability},
    SelectorName{"leat-undo", Selector::undo_window},
    // Leat's own: what of a shard is wanted, and what it has.
    SelectorName{"member", Selector::part_of_shard},
    SelectorName{"sample", Selector::part_of_shard},
    SelectorName{"fields", Selector::part_of_shard},
    SelectorName{"members", Selector::members},
};

using Names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 4> kOfBuckets = {"max-buckets", "continuation-token",
                                                        "prefix", "bucket-region"};
constexpr std::array<std::string_view, 5> kOfListing = {"prefix", "delimiter", "marker", "max-keys",
                                                        "encoding-type"};
constexpr std::array<std::string_view, 7> kOfListingV2 = {
    "prefix",      "delimiter",          "max-keys",   "encoding-type",
    "fetch-owner", "continuation-token", "start-after"};
constexpr std::array<std::string_view, 6> kOfUploads = {
    "prefix", "delimiter", "key-marker", "upload-id-marker", "max-uploads", "encoding-type"};
constexpr std::array<std::string_view, 6> kOfVersions = {
    "prefix", "delimiter", "key-marker", "version-id-marker", "max-keys", "encoding-type"};
constexpr std::array<std::string_view, 3> kOfParts = {"max-parts", "part-number-marker",
                                                      "encoding-type"};
constexpr std::array<std::string_view, 8> kOfReading = {"versionId",
                                                        "partNumber",
                                                        "response-content-type",
                                                        "response-content-language",
                                                        "response-expires",
                                                        "response-cache-control",
                                                        "response-content-disposition",
                                                        "response-content-encoding"};
constexpr std::array<std::string_view, 1> kOfPart = {"partNumber"};
constexpr std::array<std::string_view, 1> kOfVersion = {"versionId"};
constexpr std::array<std::string_view, 3> kOfMembers = {"versionId", "start", "max-members"};

struct Row {
  Method method;
  Place place;
  Selector selector;
  bool copies;
  Operation operation;
  Names names = {};  // query parameters that it knows
};
constexpr std::array kTable = {
    Row{Method::get, Place::service, Selector::none, false, Operation::s3_list_buckets, kOfBuckets},

    Row{Method::put, Place::bucket, Selector::none, false, Operation::s3_create_bucket},
    Row{Method::head, Place::bucket, Selector::none, false, Operation::s3_head_bucket},
    Row{Method::delete_, Place::bucket, Selector::none, false, Operation::s3_delete_bucket},
    Row{Method::get, Place::bucket, Selector::location, false, Operation::s3_get_bucket_location},
    Row{Method::get, Place::bucket, Selector::none, false, Operation::s3_list_objects, kOfListing},
    Row{Method::get, Place::bucket, Selector::list_v2, false, Operation::s3_list_objects_v2,
        kOfListingV2},
    Row{Method::get, Place::bucket, Selector::uploads, false, Operation::s3_list_uploads,
        kOfUploads},
    Row{Method::get, Place::bucket, Selector::versions, false, Operation::s3_list_versions,
        kOfVersions},
    Row{Method::get, Place::bucket, Selector::versioning, false, Operation::s3_get_versioning},
    Row{Method::put, Place::bucket, Selector::versioning, false, Operation::s3_put_versioning},
    Row{Method::post, Place::bucket, Selector::delete_, false, Operation::s3_delete_objects},

    Row{Method::get, Place::object, Selector::none, false, Operation::s3_get_object, kOfReading},
    Row{Method::head, Place::object, Selector::none, false, Operation::s3_head_object, kOfReading},
    Row{Method::get, Place::object, Selector::part_of_shard, false, Operation::s3_read_shard,
        kOfVersion},
    Row{Method::head, Place::object, Selector::part_of_shard, false, Operation::s3_read_shard,
        kOfVersion},
    Row{Method::get, Place::object, Selector::members, false, Operation::s3_list_members,
        kOfMembers},
    Row{Method::put, Place::object, Selector::none, false, Operation::s3_put_object},
    Row{Method::put, Place::object, Selector::none, true, Operation::s3_copy_object},
    Row{Method::delete_, Place::object, Selector::none, false, Operation::s3_delete_object,
        kOfVersion},
    Row{Method::post, Place::object, Selector::uploads, false, Operation::s3_create_upload},
    Row{Method::put, Place::object, Selector::upload_id, false, Operation::s3_upload_part, kOfPart},
    Row{Method::put, Place::object, Selector::upload_id, true, Operation::s3_upload_part_copy,
        kOfPart},
    Row{Method::post, Place::object, Selector::upload_id, false, Operation::s3_complete_upload},
    Row{Method::delete_, Place::object, Selector::upload_id, false, Operation::s3_abort_upload},
    Row{Method::get, Place::object, Selector::upload_id, false, Operation::s3_list_parts, kOfParts},
    Row{Method::get, Place::object, Selector::tagging, false, Operation::s3_get_tagging,
        kOfVersion},
    Row{Method::put, Place::object, Selector::tagging, false, Operation::s3_put_tagging,
        kOfVersion},
    Row{Method::delete_, Place::object, Selector::tagging, false, Operation::s3_delete_tagging,
        kOfVersion},

    Row{Method::get, Place::object, Selector::acl, false, Operation::s3_get_object_acl, kOfVersion},
    Row{Method::put, Place::object, Selector::acl, false, Operation::s3_put_object_acl, kOfVersion},
    Row{Method::get, Place::bucket, Selector::acl, false, Operation::s3_get_bucket_acl},
    Row{Method::put, Place::bucket, Selector::acl, false, Operation::s3_put_bucket_acl},
    Row{Method::get, Place::bucket, Selector::policy, false, Operation::s3_get_bucket_policy},
    Row{Method::put, Place::bucket, Selector::policy, false, Operation::s3_put_bucket_policy},
    Row{Method::delete_, Place::bucket, Selector::policy, false,
        Operation::s3_delete_bucket_policy},
    Row{Method::get, Place::bucket, Selector::policy_status, false,
        Operation::s3_get_bucket_policy_status},
    Row{Method::get, Place::bucket, Selector::cors, false, Operation::s3_get_cors},
    Row{Method::put, Place::bucket, Selector::cors, false, Operation::s3_put_cors},
    Row{Method::delete_, Place::bucket, Selector::cors, false, Operation::s3_delete_cors},
    Row{Method::get, Place::bucket, Selector::lifecycle, false, Operation::s3_get_lifecycle},
    Row{Method::put, Place::bucket, Selector::lifecycle, false, Operation::s3_put_lifecycle},
    Row{Method::delete_, Place::bucket, Selector::lifecycle, false, Operation::s3_delete_lifecycle},
    Row{Method::get, Place::bucket, Selector::public_access_block, false,
        Operation::s3_get_public_access_block},
    Row{Method::put, Place::bucket, Selector::public_access_block, false,
        Operation::s3_put_public_access_block},
    Row{Method::delete_, Place::bucket, Selector::public_access_block, false,
        Operation::s3_delete_public_access_block},
    Row{Method::get, Place::bucket, Selector::etag_kind, false, Operation::s3_get_etag_kind},
    Row{Method::put, Place::bucket, Selector::etag_kind, false, Operation::s3_put_etag_kind},
    Row{Method::get, Place::bucket, Selector::durability, false, Operation::s3_get_durability},
    Row{Method::put, Place::bucket, Selector::durability, false, Operation::s3_put_durability},
    Row{Method::get, Place::bucket, Selector::undo_window, false, Operation::s3_get_undo_window},
    Row{Method::put, Place::bucket, Selector::undo_window, false, Operation::s3_put_undo_window},
    Row{Method::get, Place::bucket, Selector::tagging, false, Operation::s3_get_bucket_tagging},
    Row{Method::put, Place::bucket, Selector::tagging, false, Operation::s3_put_bucket_tagging},
    Row{Method::delete_, Place::bucket, Selector::tagging, false,
        Operation::s3_delete_bucket_tagging},
    Row{Method::get, Place::object, Selector::attributes, false, Operation::s3_get_attributes,
        kOfVersion},
};

// x-amz-* fields whose meaning Leat knows, or that mean nothing to the answer. A presigned URL may
// have them in its query.
constexpr std::array<std::string_view, 34> kFields = {
    "x-amz-acl",
    "x-amz-algorithm",
    "x-amz-api-version",
    "x-amz-bypass-governance-retention",
    "x-amz-content-sha256",
    "x-amz-copy-source",
    "x-amz-copy-source-if-match",
    "x-amz-copy-source-if-modified-since",
    "x-amz-copy-source-if-none-match",
    "x-amz-copy-source-if-unmodified-since",
    "x-amz-copy-source-range",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-decoded-content-length",
    "x-amz-expected-bucket-owner",
    "x-amz-expires",
    "x-amz-max-parts",
    "x-amz-metadata-directive",
    "x-amz-mp-object-size",
    "x-amz-object-attributes",
    "x-amz-object-ownership",
    "x-amz-optional-object-attributes",
    "x-amz-part-number-marker",
    "x-amz-request-payer",
    "x-amz-sdk-checksum-algorithm",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
    "x-amz-source-expected-bucket-owner",
    "x-amz-storage-class",
    "x-amz-tagging",
    "x-amz-tagging-directive",
    "x-amz-trailer",
    "x-amz-user-agent",
};
constexpr std::array<std::string_view, 3> kOfChecksums = {
    "x-amz-checksum-algorithm", "x-amz-checksum-mode", "x-amz-checksum-type"};

// Fields that Leat knows with one value only: another one asks for what it does not have.
struct OnlyValue {
  std::string_view name;
  std::array<std::string_view, 3> values;
};
constexpr std::array kOnlyValues = {
    OnlyValue{"x-amz-acl", {"private", "bucket-owner-full-control", "public-read"}},
    OnlyValue{"x-amz-api-version", {"2006-03-01", "2006-03-01", "2006-03-01"}},
    OnlyValue{"x-amz-storage-class", {"STANDARD", "STANDARD", "STANDARD"}},
    OnlyValue{"x-amz-object-ownership",
              {"BucketOwnerEnforced", "BucketOwnerEnforced", "BucketOwnerEnforced"}},
};

bool starts_with_field(std::string_view name, std::string_view beginning) {
  return equals_ignore_case(name.substr(0, beginning.size()), beginning);
}

bool is_amz(std::string_view name) {
  return starts_with_field(name, "x-amz-");
}

std::unexpected<Error> unknown(std::string_view what) {
  return fail(Errc::not_implemented,
              fmt::format("{} asks for a functionality that is not implemented", what));
}

// Where x-amz-acl says something: elsewhere a public object would be asked for and not made.
bool makes_acl(Operation operation) {
  switch (operation) {
    case Operation::s3_create_bucket:
    case Operation::s3_put_object:
    case Operation::s3_copy_object:
    case Operation::s3_create_upload:
    case Operation::s3_put_object_acl:
    case Operation::s3_put_bucket_acl: return true;
    default: return false;
  }
}

// What is said of the source of a copy: without a copy, or a part of one, nobody would heed it.
Status check_copy_field(const Row& row, std::string_view name) {
  if (!starts_with_field(name, "x-amz-copy-source-")) return {};
  if (!row.copies) {
    return fail(Errc::bad_request, fmt::format("{} needs x-amz-copy-source", name));
  }
  const bool takes_range = row.operation == Operation::s3_upload_part_copy;
  if (equals_ignore_case(name, "x-amz-copy-source-range") && !takes_range) return unknown(name);
  return {};
}

Status check_field(const Row& row, std::string_view name, std::string_view value) {
  if (!is_amz(name)) return {};
  const auto is_name = [name](std::string_view one) { return equals_ignore_case(name, one); };
  const bool is_known = std::ranges::any_of(kFields, is_name) ||
                        std::ranges::any_of(kOfChecksums, is_name) ||
                        starts_with_field(name, "x-amz-meta-") || hash::algorithm_from_header(name);
  if (!is_known) return unknown(name);
  LEAT_DO(check_copy_field(row, name));
  for (const OnlyValue& only : kOnlyValues) {
    if (!equals_ignore_case(name, only.name)) continue;
    if (std::ranges::find(only.values, value) == only.values.end()) {
      return unknown(fmt::format("{}: {}", name, value));
    }
    if (value == "public-read" && !makes_acl(row.operation)) {
      return unknown(fmt::format("{}: {} here", name, value));
    }
  }
  return {};
}

Result<Selector> selector_in(const std::vector<QueryPair>& query) {
  Selector found = Selector::none;
  for (const QueryPair& pair : query) {
    const auto* known = std::ranges::find(kSelectors, pair.name, &SelectorName::name);
    if (known == kSelectors.end()) continue;
    // A sample and its fields are one choice.
    const bool goes_together =
        found == Selector::part_of_shard && known->selector == Selector::part_of_shard;
    if (found != Selector::none && !goes_together) {
      return unknown("A request with two sub-resources");
    }
    found = known->selector;
    if (found == Selector::list_v2 && pair.value != "2") return unknown("list-type " + pair.value);
  }
  return found;
}

Status check_parameter(const Row& row, const QueryPair& pair) {
  if (is_amz(pair.name)) return check_field(row, pair.name, pair.value);
  // The older signature in a query: the authenticator says what to do instead.
  constexpr std::array<std::string_view, 4> kHarmless = {"x-id", "AWSAccessKeyId", "Signature",
                                                         "Expires"};
  const auto is_it = [&pair](std::string_view name) { return pair.name == name; };
  const bool selects =
      std::ranges::any_of(kSelectors, [&pair](const auto& one) { return one.name == pair.name; });
  if (!selects && std::ranges::none_of(kHarmless, is_it) &&
      std::ranges::none_of(row.names, is_it)) {
    return unknown("?" + pair.name);
  }
  return {};
}

}  // namespace

Result<std::optional<Operation>> S3Router::route(const http1::RequestHead& head) const {
  if (!is_s3(head, domain_)) return std::nullopt;
  LEAT_TRY(const std::string path, http1::percent_decode(head.path));
  LEAT_TRY(const auto query, http1::parse_query(head.query));
  const Target target = target_of(path, head.host, domain_);
  Place place = target.key.empty() ? Place::bucket : Place::object;
  if (target.bucket.empty() && target.key.empty()) place = Place::service;
  // Whatever the request that a browser has in mind may be.
  if (head.method == Method::options && place != Place::service) return Operation::s3_preflight;
  LEAT_TRY(const Selector selector, selector_in(query));
  const bool copies = head.headers.find("x-amz-copy-source").has_value() ||
                      std::ranges::any_of(query, [](const QueryPair& pair) {
                        return equals_ignore_case(pair.name, "x-amz-copy-source");
                      });
  const auto* row = std::ranges::find_if(kTable, [&](const Row& one) {
    return one.method == head.method && one.place == place && one.selector == selector &&
           one.copies == copies;
  });
  if (row == kTable.end()) {
    if (place == Place::service) return fail(Errc::method_not_allowed);
    return unknown(fmt::format("{} here", head.method_text));
  }
  for (const QueryPair& pair : query)
    LEAT_DO(check_parameter(*row, pair));
  for (const http1::HeaderField field : head.headers)
    LEAT_DO(check_field(*row, field.name, field.value));
  return row->operation;
}

http::Response S3Router::refuse(const http::Refusal& refusal, const http1::RequestHead& head,
                                std::uint64_t request_id) const {
  S3Error error = told(refusal.error, S3Code::no_such_key);
  if (refusal.words) {
    error = *static_cast<const S3Error*>(refusal.words.get());
  } else if (const auto request = sigv4::request_of(head); !request) {
    error = request.error();
  }
  http::Response response = error_answer(error, {.resource = head.path, .request_id = request_id});
  if (error.code == S3Code::method_not_allowed) {
    response.add_checked(fmt::format("Allow: {}\r\n", allowed(head)));
  }
  if (finish_) {
    const auto path = http1::percent_decode(head.path);
    if (path) finish_(head, target_of(*path, head.host, domain_).bucket, response);
  }
  return response;
}

}  // namespace leat::s3
