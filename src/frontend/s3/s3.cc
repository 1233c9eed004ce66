#include "s3/s3.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "record/keeping.h"
#include "s3/configuration.h"
#include "s3/permission.h"

namespace leat::s3 {
namespace {

using http::Operation;

using Function = Answer (*)(Call&);
// What an operation changes, which decides how durable that is when it is answered.
enum class Change : std::uint8_t {
  none,
  of_objects,  // as the bucket says
  synced,      // of a bucket, or the beginning of an upload: always on the disk
};
struct Row {
  Operation operation;
  Function function;
  Change change = Change::none;
};
constexpr Row kOperations[] = {
    {Operation::s3_list_buckets, list_buckets},
    {Operation::s3_create_bucket, create_bucket, Change::synced},
    {Operation::s3_head_bucket, head_bucket},
    {Operation::s3_delete_bucket, delete_bucket, Change::synced},
    {Operation::s3_get_bucket_location, get_bucket_location},
    {Operation::s3_list_objects, list_objects},
    {Operation::s3_list_objects_v2, list_objects_v2},
    {Operation::s3_list_uploads, list_uploads},
    {Operation::s3_list_versions, list_versions},
    {Operation::s3_get_versioning, get_versioning},
    {Operation::s3_put_versioning, put_versioning, Change::synced},
    {Operation::s3_get_public_access_block, get_public_access_block},
    {Operation::s3_put_public_access_block, put_public_access_block, Change::synced},
    {Operation::s3_delete_public_access_block, delete_public_access_block, Change::synced},
    {Operation::s3_get_etag_kind, get_etag_kind},
    {Operation::s3_put_etag_kind, put_etag_kind, Change::synced},
    {Operation::s3_get_durability, get_durability},
    {Operation::s3_put_durability, put_durability, Change::synced},
    {Operation::s3_get_undo_window, get_undo_window},
    {Operation::s3_put_undo_window, put_undo_window, Change::synced},
    {Operation::s3_get_bucket_tagging, get_bucket_tagging},
    {Operation::s3_put_bucket_tagging, put_bucket_tagging, Change::synced},
    {Operation::s3_delete_bucket_tagging, delete_bucket_tagging, Change::synced},
    {Operation::s3_get_attributes, get_object_attributes},
    {Operation::s3_get_object, read_object},
    {Operation::s3_head_object, read_object},
    {Operation::s3_read_shard, read_shard},
    {Operation::s3_list_members, list_members},
    {Operation::s3_put_object, put_object, Change::of_objects},
    {Operation::s3_copy_object, copy_object, Change::of_objects},
    {Operation::s3_delete_object, delete_object, Change::of_objects},
    {Operation::s3_delete_objects, delete_objects, Change::of_objects},
    {Operation::s3_create_upload, create_upload, Change::synced},
    {Operation::s3_upload_part, upload_part, Change::of_objects},
    {Operation::s3_upload_part_copy, upload_part_copy, Change::of_objects},
    {Operation::s3_complete_upload, complete_upload, Change::of_objects},
    {Operation::s3_abort_upload, abort_upload, Change::of_objects},
    {Operation::s3_list_parts, list_parts},
    {Operation::s3_get_tagging, get_tagging},
    {Operation::s3_put_tagging, put_tagging, Change::of_objects},
    {Operation::s3_delete_tagging, delete_tagging, Change::of_objects},
    {Operation::s3_get_object_acl, get_object_acl},
    {Operation::s3_put_object_acl, put_object_acl, Change::of_objects},
    {Operation::s3_get_bucket_acl, get_bucket_acl},
    {Operation::s3_put_bucket_acl, put_bucket_acl, Change::synced},
    {Operation::s3_get_bucket_policy, get_bucket_policy},
    {Operation::s3_put_bucket_policy, put_bucket_policy, Change::synced},
    {Operation::s3_delete_bucket_policy, delete_bucket_policy, Change::synced},
    {Operation::s3_get_bucket_policy_status, get_bucket_policy_status},
    {Operation::s3_get_cors, get_cors},
    {Operation::s3_put_cors, put_cors, Change::synced},
    {Operation::s3_delete_cors, delete_cors, Change::synced},
    {Operation::s3_get_lifecycle, get_lifecycle},
    {Operation::s3_put_lifecycle, put_lifecycle, Change::synced},
    {Operation::s3_delete_lifecycle, delete_lifecycle, Change::synced},
    {Operation::s3_preflight, preflight},
};

bool needs_bucket(Operation operation) {
  return operation != Operation::s3_list_buckets && operation != Operation::s3_create_bucket &&
         operation != Operation::s3_preflight;
}

bool has_overrides(const Call& call) {
  return std::ranges::any_of(call.caller.request.query, [](const http1::QueryPair& pair) {
    return pair.name.starts_with("response-");
  });
}

// A body of a signed request that its signature does not cover. Who has the token, or nothing,
// signs nothing at all.
bool has_unsigned_body(const Call& call) {
  using sigv4::PayloadKind;
  const http1::RequestHead& head = call.exchange.head;
  const PayloadKind kind = call.caller.payload.kind;
  const bool is_unsigned =
      kind == PayloadKind::unsigned_plain || kind == PayloadKind::stream_unsigned_trailer;
  return call.caller.who == Who::key && is_unsigned &&
         (head.chunked || head.content_length.value_or(0) > 0);
}

// Everything that is checked before an operation runs.
S3Status admit(Operation operation, Call& call) {
  if (call.tools.options.requires_signed_payload && !call.exchange.is_encrypted &&
      has_unsigned_body(call)) {
    return refuse(S3Code::access_denied,
                  "This store takes unsigned payloads over TLS only: sign the payload, or use "
                  "https.");
  }
  const Grant grant = grant_of(operation, call);
  if (grant == Grant::refused) return refuse(S3Code::access_denied);
  call.only_if_public = grant == Grant::if_public;
  if (call.caller.who == Who::nobody && has_overrides(call)) {
    return refuse(S3Code::invalid_request,
                  "Request specific response headers cannot be used for anonymous GET requests.");
  }
  if (const auto owner = call.field("x-amz-expected-bucket-owner"); owner && *owner != kOwner) {
    return refuse(S3Code::access_denied,
                  fmt::format("Access Denied: x-amz-expected-bucket-owner is not {}, whom "
                              "everything here belongs to.",
                              kOwner));
  }
  if (call.target.key.size() > record::kKeyMaxBytes) return refuse(S3Code::key_too_long);
  if (!needs_bucket(operation)) return {};
  auto bucket = call.store().find_bucket(call.target.bucket);
  if (!bucket) {
    if (call.only_if_public) return refuse(S3Code::access_denied);
    if (!is_bucket_name(call.target.bucket)) return refuse_name(call.target.bucket);
    return refuse(S3Code::no_such_bucket);
  }
  call.bucket = *std::move(bucket);
  return {};
}

// Why, and what to do: by who asks alone. What is forbidden and what is not there must read alike
// for whoever may not list.
void explain_denial(S3Error& error, Who who) {
  if (error.code != S3Code::access_denied || error.message != kAccessDenied) return;
  switch (who) {
    case Who::operators: return;
    case Who::nobody:
      error.message = "Access Denied: no credentials were sent, and this is not open to everybody.";
      return;
    case Who::key:
      error.message =
          "Access Denied: no rule of this key and no policy allows it (leat key list shows rules), "
          "or it is not there and the key may not list.";
  }
}

void add_durability(http::Response& response, Change change, const record::Bucket& bucket) {
  if (change == Change::none) return;
  const auto durability = change == Change::synced ? record::Durability::sync : bucket.durability;
  response.add_checked(fmt::format("x-leat-durability: {}\r\n", record::word_of(durability)));
}

Answer run(Function function, Call& call) {
  LEAT_CO_DO(admit(call.exchange.operation, call));
  co_return co_await function(call);
}

}  // namespace

// The handler of one operation.
class S3Api::Operator final : public http::Handler {
 public:
  Operator(Tools& tools, log::Logger& logger, const Row& row)
      : tools_(tools), logger_(logger), row_(row) {}

  Operation operation() const { return row_.operation; }

  rt::Task<http::Response> handle(http::Exchange& exchange) override {
    const auto* caller = static_cast<const Caller*>(exchange.proof.get());
    LEAT_CHECK(caller != nullptr);
    Call call{.tools = tools_, .exchange = exchange, .caller = *caller};
    call.target = target_of(caller->request.path, exchange.head.host, tools_.options.domain);
    auto answer = co_await run(row_.function, call);
    if (answer) {
      add_ids(*answer, exchange.request_id);
      add_durability(*answer, row_.change, call.bucket);
      add_cors(tools_, exchange.head, call.target.bucket, *answer);
      co_return std::move(*answer);
    }
    explain_denial(answer.error(), caller->who);
    if (answer.error().code == S3Code::internal_error) {
      logger_.error("S3 request failed", {{"request", exchange.request_id},
                                          {"path", exchange.head.path},
                                          {"error", answer.error().message}});
    }
    const Context context{.resource = exchange.head.path, .request_id = exchange.request_id};
    http::Response refusal = error_answer(answer.error(), context);
    add_cors(tools_, exchange.head, call.target.bucket, refusal);
    co_return refusal;
  }

 private:
  Tools& tools_;
  log::Logger& logger_;
  const Row& row_;
};

S3Api::S3Api(const Parts& parts)
    : tools_{.store = parts.store,
             .indexes = parts.indexes,
             .keys = parts.keys,
             .options = parts.options},
      router_(parts.options.domain,
              [this](const http1::RequestHead& head, std::string_view bucket,
                     http::Response& response) { add_cors(tools_, head, bucket, response); }),
      authenticator_(parts.token, parts.keys, parts.clock, parts.options) {
  for (const Row& row : kOperations)
    operators_.push_back(std::make_unique<Operator>(tools_, parts.logger, row));
}

S3Api::~S3Api() = default;

void S3Api::install(http::Dispatcher& dispatcher) {
  dispatcher.set_authenticator(authenticator_);
  dispatcher.add_router(router_);
  for (const auto& one : operators_)
    dispatcher.set_handler(one->operation(), *one);
}

}  // namespace leat::s3
