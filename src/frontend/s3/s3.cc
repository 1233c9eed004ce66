#include "s3/s3.h"

#include "base/check.h"

namespace leat::s3 {
namespace {

using http::Operation;
using keys::Right;

using Function = Answer (*)(Call&);
struct Row {
  Operation operation;
  Function function;
};
constexpr Row kOperations[] = {
    {Operation::s3_list_buckets, list_buckets},
    {Operation::s3_create_bucket, create_bucket},
    {Operation::s3_head_bucket, head_bucket},
    {Operation::s3_delete_bucket, delete_bucket},
    {Operation::s3_get_bucket_location, get_bucket_location},
    {Operation::s3_list_objects, list_objects},
    {Operation::s3_list_objects_v2, list_objects_v2},
    {Operation::s3_list_uploads, list_uploads},
    {Operation::s3_list_versions, list_versions},
    {Operation::s3_get_versioning, get_versioning},
    {Operation::s3_put_versioning, put_versioning},
    {Operation::s3_get_object, read_object},
    {Operation::s3_head_object, read_object},
    {Operation::s3_put_object, put_object},
    {Operation::s3_copy_object, copy_object},
    {Operation::s3_delete_object, delete_object},
    {Operation::s3_delete_objects, delete_objects},
    {Operation::s3_create_upload, create_upload},
    {Operation::s3_upload_part, upload_part},
    {Operation::s3_upload_part_copy, upload_part_copy},
    {Operation::s3_complete_upload, complete_upload},
    {Operation::s3_abort_upload, abort_upload},
    {Operation::s3_list_parts, list_parts},
    {Operation::s3_get_tagging, get_tagging},
    {Operation::s3_put_tagging, put_tagging},
    {Operation::s3_delete_tagging, delete_tagging},
};

bool knows(const Call& call) {
  return call.caller.key == nullptr || keys::knows(*call.caller.key, call.target.bucket);
}

// Whether the rules of the caller's key allow the operation. No default: a new operation does not
// compile until somebody has decided.
bool is_allowed(Operation operation, const Call& call) {
  const Target& target = call.target;
  switch (operation) {
    case Operation::s3_list_buckets: return true;  // each sees what it knows
    case Operation::s3_create_bucket:
    case Operation::s3_put_versioning:
    case Operation::s3_delete_bucket: return call.may(Right::admin, target.bucket, "");
    case Operation::s3_head_bucket:
    case Operation::s3_get_bucket_location:
    case Operation::s3_get_versioning:
    case Operation::s3_delete_objects: return knows(call);  // the last one asks for each key
    case Operation::s3_list_objects:
    case Operation::s3_list_objects_v2:
    case Operation::s3_list_uploads:
    case Operation::s3_list_versions:
      return call.may(Right::list, target.bucket, call.query("prefix").value_or(""));
    case Operation::s3_get_object:
    case Operation::s3_head_object:
    case Operation::s3_get_tagging: return call.may(Right::read, target.bucket, target.key);
    case Operation::s3_put_object:
    case Operation::s3_copy_object:  // which asks for its source, too
    case Operation::s3_delete_object:
    case Operation::s3_create_upload:
    case Operation::s3_upload_part:
    case Operation::s3_upload_part_copy:
    case Operation::s3_complete_upload:
    case Operation::s3_abort_upload:
    case Operation::s3_list_parts:
    case Operation::s3_put_tagging:
    case Operation::s3_delete_tagging: return call.may(Right::write, target.bucket, target.key);
    case Operation::health:
    case Operation::ready:
    case Operation::version:
    case Operation::metrics:
    case Operation::read_file:
    case Operation::write_file:
    case Operation::delete_file:
    case Operation::list_buckets:
    case Operation::create_bucket:
    case Operation::remove_bucket:
    case Operation::list_objects:
    case Operation::read_object:
    case Operation::write_object:
    case Operation::remove_object:
    case Operation::change_object:
    case Operation::list_disks:
    case Operation::add_disk:
    case Operation::remove_disk:
    case Operation::list_keys:
    case Operation::create_key:
    case Operation::remove_key: return false;  // not S3's
  }
  LEAT_CHECK(false);
}

bool needs_bucket(Operation operation) {
  return operation != Operation::s3_list_buckets && operation != Operation::s3_create_bucket;
}

// Everything that is checked before an operation runs.
S3Status admit(Operation operation, Call& call) {
  if (!is_allowed(operation, call)) return refuse(S3Code::access_denied);
  if (const auto owner = call.field("x-amz-expected-bucket-owner"); owner && *owner != kOwner) {
    return refuse(S3Code::access_denied);
  }
  if (call.target.key.size() > record::kKeyMaxBytes) return refuse(S3Code::key_too_long);
  if (!needs_bucket(operation)) return {};
  auto bucket = call.store().find_bucket(call.target.bucket);
  if (!bucket) {
    return refuse(is_bucket_name(call.target.bucket) ? S3Code::no_such_bucket
                                                     : S3Code::invalid_bucket_name);
  }
  call.bucket = *std::move(bucket);
  return {};
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
      co_return std::move(*answer);
    }
    if (answer.error().code == S3Code::internal_error) {
      logger_.error("S3 request failed", {{"request", exchange.request_id},
                                          {"path", exchange.head.path},
                                          {"error", answer.error().message}});
    }
    const Context context{.resource = exchange.head.path, .request_id = exchange.request_id};
    co_return error_answer(answer.error(), context);
  }

 private:
  Tools& tools_;
  log::Logger& logger_;
  const Row& row_;
};

S3Api::S3Api(const Parts& parts)
    : tools_{.store = parts.store, .keys = parts.keys, .options = parts.options},
      router_(parts.options.domain),
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
