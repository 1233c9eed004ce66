// Action: what a bucket policy can allow or deny, by the names of AWS.
//
// The list has what Leat does and nothing else: a policy that names another action is refused, so
// that nobody believes in a rule that rules nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leat::access {

// What an action is about, which decides the resource that must match.
enum class Scope : std::uint8_t { bucket, object };

// X(name, scope, name of AWS without "s3:")
#define LEAT_ACTIONS(X)                                                             \
  X(create_bucket, bucket, "CreateBucket")                                          \
  X(delete_bucket, bucket, "DeleteBucket")                                          \
  X(get_bucket_location, bucket, "GetBucketLocation")                               \
  X(list_bucket, bucket, "ListBucket")                                              \
  X(list_bucket_versions, bucket, "ListBucketVersions")                             \
  X(list_uploads, bucket, "ListBucketMultipartUploads")                             \
  X(get_bucket_versioning, bucket, "GetBucketVersioning")                           \
  X(put_bucket_versioning, bucket, "PutBucketVersioning")                           \
  X(get_bucket_policy, bucket, "GetBucketPolicy")                                   \
  X(get_bucket_policy_status, bucket, "GetBucketPolicyStatus")                      \
  X(put_bucket_policy, bucket, "PutBucketPolicy")                                   \
  X(delete_bucket_policy, bucket, "DeleteBucketPolicy")                             \
  X(get_bucket_cors, bucket, "GetBucketCORS")                                       \
  X(put_bucket_cors, bucket, "PutBucketCORS") /* removes them, too */               \
  X(get_lifecycle, bucket, "GetLifecycleConfiguration")                             \
  X(put_lifecycle, bucket, "PutLifecycleConfiguration") /* removes it, too */       \
  X(get_bucket_acl, bucket, "GetBucketAcl")                                         \
  X(put_bucket_acl, bucket, "PutBucketAcl")                                         \
  X(get_public_access_block, bucket, "GetBucketPublicAccessBlock")                  \
  X(put_public_access_block, bucket, "PutBucketPublicAccessBlock") /* or not */     \
  X(get_etag_kind, bucket, "GetBucketEtagKind")                    /* Leat's own */ \
  X(put_etag_kind, bucket, "PutBucketEtagKind")                                     \
  X(get_durability, bucket, "GetBucketDurability")                                  \
  X(put_durability, bucket, "PutBucketDurability")                                  \
  X(get_undo_window, bucket, "GetBucketUndoWindow")                                 \
  X(put_undo_window, bucket, "PutBucketUndoWindow")                                 \
  X(get_bucket_tagging, bucket, "GetBucketTagging")                                 \
  X(put_bucket_tagging, bucket, "PutBucketTagging") /* removes them, too */         \
  X(get_object, object, "GetObject")                                                \
  X(get_object_version, object, "GetObjectVersion")                                 \
  X(put_object, object, "PutObject")                                                \
  X(delete_object, object, "DeleteObject")                                          \
  X(delete_object_version, object, "DeleteObjectVersion")                           \
  X(abort_upload, object, "AbortMultipartUpload")                                   \
  X(list_parts, object, "ListMultipartUploadParts")                                 \
  X(get_object_tagging, object, "GetObjectTagging")                                 \
  X(get_object_version_tagging, object, "GetObjectVersionTagging")                  \
  X(put_object_tagging, object, "PutObjectTagging")                                 \
  X(put_object_version_tagging, object, "PutObjectVersionTagging")                  \
  X(delete_object_tagging, object, "DeleteObjectTagging")                           \
  X(delete_object_version_tagging, object, "DeleteObjectVersionTagging")            \
  X(get_object_acl, object, "GetObjectAcl")                                         \
  X(get_object_version_acl, object, "GetObjectVersionAcl")                          \
  X(put_object_acl, object, "PutObjectAcl")                                         \
  X(put_object_version_acl, object, "PutObjectVersionAcl")

enum class Action : std::uint8_t {
#define LEAT_X(name, scope, text) name,
  LEAT_ACTIONS(LEAT_X)
#undef LEAT_X
};

struct ActionRow {
  Action action;
  Scope scope;
  std::string_view text;  // "GetObject"
};
constexpr std::array kActions = {
#define LEAT_X(name, scope, text) ActionRow{Action::name, Scope::scope, text},
    LEAT_ACTIONS(LEAT_X)
#undef LEAT_X
};

constexpr const ActionRow& row_of(Action action) {
  return kActions[static_cast<std::size_t>(action)];
}

}  // namespace leat::access
