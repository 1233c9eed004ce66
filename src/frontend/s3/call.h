// Call: one S3 request whose sender is known and may ask for it, as the operations see it; and the
// operations, one function each.
//
// Shard: one. Lifetime: what a call refers to outlives the operation's task.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "access/action.h"
#include "http/exchange.h"
#include "http/response.h"
#include "keys/key_store.h"
#include "s3/answer.h"
#include "s3/authenticator.h"
#include "s3/bucket_rules.h"
#include "s3/target.h"
#include "s3body/body_reader.h"
#include "shards/indexes.h"
#include "store/shard_store.h"

namespace leat::s3 {

// What the operations of one shard work with.
struct Tools {
  store::ShardStore& store;
  shards::ShardIndexes& indexes;
  const keys::ShardKeys& keys;
  S3Options options;
  BucketRules rules{};
};

struct Call {
  Tools& tools;
  http::Exchange& exchange;
  const Caller& caller;
  Target target{};
  record::Bucket bucket{};  // if the operation is about one that must be there
  // The caller may read the object if its ACL shows it to everybody, and not otherwise.
  bool only_if_public = false;

  store::ShardStore& store() const { return tools.store; }
  record::ObjectKey object() const { return {.bucket = bucket.id, .key = target.key}; }

  // A query parameter; its first value.
  std::optional<std::string_view> query(std::string_view name) const;
  // A header field, or the query parameter of a presigned URL in its place.
  std::optional<std::string_view> field(std::string_view name) const;
  // A number in the query. Errors: InvalidArgument.
  S3Result<std::uint64_t> number(std::string_view name, std::uint64_t otherwise,
                                 std::uint64_t max) const;

  // By policy, rules and ACL (s3/permission.h).
  bool may(access::Action action, std::string_view bucket_name, std::string_view key) const;
  // What to say of a key that is not there: who may not list must not learn it.
  S3Code missing(std::string_view bucket_name, std::string_view key) const;
};

// A name that is given to a client and wanted back unchanged, bound to a bucket.
std::string seal_token(const Call& call, std::string_view name);
// Errors: InvalidArgument.
S3Result<std::string> open_token(const Call& call, std::string_view token);

// The body of a request that is a document, with its digests checked.
// Errors: MaxMessageLengthExceeded, and those of s3body.
struct DocumentForm {
  std::size_t max_bytes = 64 * kKiB;
  bool has_object_checksums = false;  // x-amz-checksum-* are about the object, not this body
};
S3Task<std::string> read_document(Call& call, DocumentForm form);

// The condition of a change. Errors: NotImplemented (If-None-Match other than *).
S3Result<volume::Precondition> precondition_of(const Call& call);
// The refusal of a change, after its precondition.
S3Task<S3Error> refusal_of_change(Call& call, const Error& error,
                                  const volume::Precondition& precondition);

// The etag between its quotes, if it has any.
std::string_view without_quotes(std::string_view etag);

Answer list_buckets(Call& call);
Answer create_bucket(Call& call);
Answer head_bucket(Call& call);
Answer delete_bucket(Call& call);
Answer get_bucket_location(Call& call);
Answer list_objects(Call& call);
Answer list_objects_v2(Call& call);
Answer list_uploads(Call& call);
Answer list_versions(Call& call);
Answer get_versioning(Call& call);
Answer put_versioning(Call& call);
Answer get_public_access_block(Call& call);
Answer put_public_access_block(Call& call);
Answer delete_public_access_block(Call& call);
Answer get_etag_kind(Call& call);
Answer put_etag_kind(Call& call);
Answer get_durability(Call& call);
Answer put_durability(Call& call);
Answer get_undo_window(Call& call);
Answer put_undo_window(Call& call);
Answer get_bucket_tagging(Call& call);
Answer put_bucket_tagging(Call& call);
Answer delete_bucket_tagging(Call& call);
Answer get_object_attributes(Call& call);
Answer read_object(Call& call);
Answer read_shard(Call& call);
Answer list_members(Call& call);
Answer put_object(Call& call);
Answer copy_object(Call& call);
Answer delete_object(Call& call);
Answer delete_objects(Call& call);
Answer create_upload(Call& call);
Answer upload_part(Call& call);
Answer upload_part_copy(Call& call);
Answer complete_upload(Call& call);
Answer abort_upload(Call& call);
Answer list_parts(Call& call);
Answer get_tagging(Call& call);
Answer put_tagging(Call& call);
Answer delete_tagging(Call& call);
Answer get_object_acl(Call& call);
Answer put_object_acl(Call& call);
Answer get_bucket_acl(Call& call);
Answer put_bucket_acl(Call& call);
Answer get_bucket_policy(Call& call);
Answer put_bucket_policy(Call& call);
Answer delete_bucket_policy(Call& call);
Answer get_bucket_policy_status(Call& call);
Answer get_cors(Call& call);
Answer put_cors(Call& call);
Answer delete_cors(Call& call);
Answer get_lifecycle(Call& call);
Answer put_lifecycle(Call& call);
Answer delete_lifecycle(Call& call);
Answer preflight(Call& call);

}  // namespace leat::s3
