#include "s3/permission.h"

#include <algorithm>

#include "base/check.h"
#include "s3/acl.h"
#include "s3/bucket_rules.h"
#include "s3/public_access.h"

namespace leat::s3 {
namespace {

using access::Action;
using http::Operation;
using keys::Right;

// What an action needs of the rules of a key. No default: a new one does not compile until somebody
// has decided.
Right right_for(Action action) {
  switch (action) {
    case Action::get_object:
    case Action::get_object_version:
    case Action::get_object_tagging:
    case Action::get_object_version_tagging:
    case Action::get_object_acl:
    case Action::get_object_version_acl: return Right::read;
    case Action::put_object:
    case Action::delete_object:
    case Action::delete_object_version:
    case Action::abort_upload:
    case Action::list_parts:
    case Action::put_object_tagging:
    case Action::put_object_version_tagging:
    case Action::delete_object_tagging:
    case Action::delete_object_version_tagging: return Right::write;
    case Action::get_bucket_location:
    case Action::list_bucket:
    case Action::list_bucket_versions:
    case Action::list_uploads: return Right::list;
    // To show an object to everybody is more than to write it: who may write but not read could
    // read by it what others wrote.
    case Action::put_object_acl:
    case Action::put_object_version_acl:
    case Action::create_bucket:
    case Action::delete_bucket:
    case Action::get_bucket_versioning:
    case Action::put_bucket_versioning:
    case Action::get_bucket_policy:
    case Action::get_bucket_policy_status:
    case Action::put_bucket_policy:
    case Action::delete_bucket_policy:
    case Action::get_bucket_cors:
    case Action::put_bucket_cors:
    case Action::get_lifecycle:
    case Action::put_lifecycle:
    case Action::get_bucket_acl:
    case Action::get_public_access_block:
    case Action::put_public_access_block:
    case Action::get_etag_kind:
    case Action::put_etag_kind:
    case Action::get_durability:
    case Action::put_durability:
    case Action::get_undo_window:
    case Action::put_undo_window:
    case Action::get_bucket_tagging:
    case Action::put_bucket_tagging:
    case Action::put_bucket_acl: return Right::admin;
  }
  LEAT_CHECK(false);
}

// What a policy can deny but not give: or "s3:*" for everybody would give the policy away.
bool is_administrative(Action action) {
  return access::row_of(action).scope == access::Scope::bucket && right_for(action) == Right::admin;
}

bool is_listing(Action action) {
  return action == Action::list_bucket || action == Action::list_bucket_versions ||
         action == Action::list_uploads;
}

access::Verdict verdict_of(const Call& call, const Wanted& wanted, const record::Bucket* bucket) {
  if (bucket == nullptr) return access::Verdict::silent;
  const auto policy = call.tools.rules.policy(*bucket);
  if (policy == nullptr) return access::Verdict::silent;
  access::Question question{.action = wanted.action,
                            .key = wanted.key,
                            .source_ip = call.exchange.peer.host,
                            .is_encrypted = call.exchange.is_encrypted};
  if (call.caller.key != nullptr) question.principal = call.caller.key->id;
  if (is_listing(wanted.action)) {
    question.prefix = call.query("prefix");
    question.delimiter = call.query("delimiter");
  }
  const access::Verdict verdict = policy->decide(question);
  const bool admits_unknown = call.caller.who == Who::nobody && verdict == access::Verdict::allowed;
  if (admits_unknown && policy->is_public() && public_access_block(*bucket).restricts_bucket) {
    return access::Verdict::silent;
  }
  return verdict;
}

bool rules_allow(const Call& call, Right right, const Wanted& wanted) {
  return call.caller.key != nullptr &&
         keys::allows(*call.caller.key, right, wanted.bucket, wanted.key);
}

bool rules_know(const Call& call) {
  return call.caller.key != nullptr && keys::knows(*call.caller.key, call.target.bucket);
}

Grant grant_on(const Call& call, Action action, std::string_view key) {
  const Wanted wanted{.action = action, .bucket = call.target.bucket, .key = key};
  return grant_of(call, wanted);
}

// For any right: that the bucket is there, and where.
Grant grant_to_know(const Call& call, Action action) {
  const Wanted wanted{.action = action, .bucket = call.target.bucket, .key = ""};
  const Grant grant = grant_of(call, wanted);
  if (grant == Grant::allowed) return grant;
  const store::BucketTablePtr table = call.store().buckets();
  const record::Bucket* bucket = table->find(call.target.bucket);
  const bool is_denied = verdict_of(call, wanted, bucket) == access::Verdict::denied;
  return !is_denied && rules_know(call) ? Grant::allowed : Grant::refused;
}

}  // namespace

Grant grant_of(const Call& call, const Wanted& wanted) {
  switch (call.caller.who) {
    case Who::operators: return Grant::allowed;
    case Who::key:
    case Who::nobody: break;
  }
  const store::BucketTablePtr table = call.store().buckets();
  const record::Bucket* bucket = table->find(wanted.bucket);
  switch (verdict_of(call, wanted, bucket)) {
    case access::Verdict::denied: return Grant::refused;
    case access::Verdict::allowed:
      if (!is_administrative(wanted.action)) return Grant::allowed;
      break;
    case access::Verdict::silent: break;
  }
  if (rules_allow(call, right_for(wanted.action), wanted)) return Grant::allowed;
  if (bucket != nullptr && public_access_block(*bucket).ignores_acls) return Grant::refused;
  if (bucket != nullptr && is_listing(wanted.action) && is_public(*bucket)) return Grant::allowed;
  const bool is_reading =
      wanted.action == Action::get_object || wanted.action == Action::get_object_version;
  return is_reading ? Grant::if_public : Grant::refused;
}

bool may_delete_some(const Call& call) {
  if (call.caller.who == Who::operators || rules_know(call)) return true;
  const store::BucketTablePtr table = call.store().buckets();
  const record::Bucket* bucket = table->find(call.target.bucket);
  const auto policy = bucket != nullptr ? call.tools.rules.policy(*bucket) : nullptr;
  if (policy == nullptr) return false;
  std::optional<std::string_view> principal;
  if (call.caller.key != nullptr) principal = call.caller.key->id;
  return policy->may_allow(Action::delete_object, principal) ||
         policy->may_allow(Action::delete_object_version, principal);
}

Grant grant_of(const Call& call, VersionActions actions, bool is_version, const Target& target) {
  const auto grant = [&call, &target](Action action) {
    const Wanted wanted{.action = action, .bucket = target.bucket, .key = target.key};
    return grant_of(call, wanted);
  };
  if (!is_version) return grant(actions.of_object);
  const store::BucketTablePtr table = call.store().buckets();
  const record::Bucket* bucket = table->find(target.bucket);
  const bool is_kept = bucket != nullptr && bucket->versioning != record::Versioning::off;
  if (is_kept) return grant(actions.of_version);
  return std::min(grant(actions.of_version), grant(actions.of_object));
}

// No default: a new operation does not compile until somebody has decided.
Grant grant_of(Operation operation, const Call& call) {
  const std::string_view listed = call.query("prefix").value_or("");
  const auto bucket = [&](Action action) { return grant_on(call, action, ""); };
  const auto listing = [&](Action action) { return grant_on(call, action, listed); };
  const auto object = [&](Action action) { return grant_on(call, action, call.target.key); };
  const auto version = [&](Action of_object, Action of_version) {
    const VersionActions actions{.of_object = of_object, .of_version = of_version};
    return grant_of(call, actions, call.query("versionId").has_value(), call.target);
  };
  switch (operation) {
    case Operation::s3_list_buckets:                      // each sees what it knows
    case Operation::s3_preflight: return Grant::allowed;  // it tells of nothing but rules of CORS
    case Operation::s3_create_bucket: return bucket(Action::create_bucket);
    case Operation::s3_delete_bucket: return bucket(Action::delete_bucket);
    case Operation::s3_head_bucket: return grant_to_know(call, Action::list_bucket);
    case Operation::s3_get_bucket_location: return grant_to_know(call, Action::get_bucket_location);
    case Operation::s3_delete_objects:  // which asks for each key
      return may_delete_some(call) ? Grant::allowed : Grant::refused;
    case Operation::s3_list_objects:
    case Operation::s3_list_objects_v2: return listing(Action::list_bucket);
    case Operation::s3_list_uploads: return listing(Action::list_uploads);
    case Operation::s3_list_versions: return listing(Action::list_bucket_versions);
    case Operation::s3_get_versioning: return grant_to_know(call, Action::get_bucket_versioning);
    case Operation::s3_put_versioning: return bucket(Action::put_bucket_versioning);
    case Operation::s3_get_public_access_block: return bucket(Action::get_public_access_block);
    case Operation::s3_put_public_access_block:
    case Operation::s3_delete_public_access_block: return bucket(Action::put_public_access_block);
    case Operation::s3_get_etag_kind: return grant_to_know(call, Action::get_etag_kind);
    case Operation::s3_put_etag_kind: return bucket(Action::put_etag_kind);
    case Operation::s3_get_durability: return grant_to_know(call, Action::get_durability);
    case Operation::s3_put_durability: return bucket(Action::put_durability);
    case Operation::s3_get_undo_window: return grant_to_know(call, Action::get_undo_window);
    case Operation::s3_put_undo_window: return bucket(Action::put_undo_window);
    case Operation::s3_get_bucket_tagging: return bucket(Action::get_bucket_tagging);
    case Operation::s3_put_bucket_tagging:
    case Operation::s3_delete_bucket_tagging: return bucket(Action::put_bucket_tagging);
    case Operation::s3_get_object:
    case Operation::s3_get_attributes:
    case Operation::s3_read_shard:
    case Operation::s3_list_members:
    case Operation::s3_head_object: return version(Action::get_object, Action::get_object_version);
    case Operation::s3_put_object:
    case Operation::s3_copy_object:  // which asks for its source, too
    case Operation::s3_create_upload:
    case Operation::s3_upload_part:
    case Operation::s3_upload_part_copy:
    case Operation::s3_complete_upload: return object(Action::put_object);
    case Operation::s3_delete_object:
      return version(Action::delete_object, Action::delete_object_version);
    case Operation::s3_abort_upload: return object(Action::abort_upload);
    case Operation::s3_list_parts: return object(Action::list_parts);
    case Operation::s3_get_tagging:
      return version(Action::get_object_tagging, Action::get_object_version_tagging);
    case Operation::s3_put_tagging:
      return version(Action::put_object_tagging, Action::put_object_version_tagging);
    case Operation::s3_delete_tagging:
      return version(Action::delete_object_tagging, Action::delete_object_version_tagging);
    case Operation::s3_get_object_acl:
      return version(Action::get_object_acl, Action::get_object_version_acl);
    case Operation::s3_put_object_acl:
      return version(Action::put_object_acl, Action::put_object_version_acl);
    case Operation::s3_get_bucket_policy: return bucket(Action::get_bucket_policy);
    case Operation::s3_put_bucket_policy: return bucket(Action::put_bucket_policy);
    case Operation::s3_delete_bucket_policy: return bucket(Action::delete_bucket_policy);
    case Operation::s3_get_bucket_policy_status: return bucket(Action::get_bucket_policy_status);
    case Operation::s3_get_cors: return bucket(Action::get_bucket_cors);
    case Operation::s3_put_cors:
    case Operation::s3_delete_cors: return bucket(Action::put_bucket_cors);
    case Operation::s3_get_lifecycle: return bucket(Action::get_lifecycle);
    case Operation::s3_put_lifecycle:
    case Operation::s3_delete_lifecycle: return bucket(Action::put_lifecycle);
    case Operation::s3_get_bucket_acl: return bucket(Action::get_bucket_acl);
    case Operation::s3_put_bucket_acl: return bucket(Action::put_bucket_acl);
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
    case Operation::remove_key:
    case Operation::read_batch:
    case Operation::list_datasets:
    case Operation::read_dataset:
    case Operation::write_dataset:
    case Operation::open_local: return Grant::refused;  // not S3's
  }
  LEAT_CHECK(false);
}

}  // namespace leat::s3
