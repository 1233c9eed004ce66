#include "http/operation.h"

#include <array>

#include "base/check.h"

namespace leat::http {
namespace {

// Who may do what, as a set of kinds.
struct Access {
  bool anonymous;
  bool same_machine;
  bool admin_token;
  bool access_key;
};

constexpr Access kEverybody{true, true, true, true};
constexpr Access kOperators{false, true, true, false};
// A proxy on this machine that adds no field of its own cannot be told from a person on it: what
// destroys is for those who prove that they may.
constexpr Access kTokenHolders{false, false, true, false};
// Whom the signature of an access key proves, as far as the rules of that key go (frontend/s3).
constexpr Access kKeyHolders{false, false, true, true};
// What a bucket's policy or ACL may open to whom nothing is known of: frontend/s3 looks, and denies
// unless one of them does.
constexpr Access kWhomBucketsAdmit{true, false, true, true};

Access access_to(Operation operation) {
  switch (operation) {
    case Operation::health:
    case Operation::ready:
    case Operation::version: return kEverybody;
    case Operation::metrics: return kOperators;
    // `leat share` is a choice to show a folder to whoever reaches the address it listens on;
    // writing is a second choice, and without it these two have no route.
    case Operation::read_file: return kEverybody;
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
    case Operation::add_disk:
    case Operation::remove_disk:
    case Operation::list_keys:
    case Operation::create_key:
    case Operation::remove_key: return kTokenHolders;
    case Operation::list_disks: return kOperators;
    case Operation::read_batch:
    case Operation::list_datasets:
    case Operation::write_dataset:
    case Operation::open_local:
    case Operation::s3_list_buckets:
    case Operation::s3_create_bucket:
    case Operation::s3_delete_bucket:
    case Operation::s3_get_versioning:
    case Operation::s3_put_versioning:
    case Operation::s3_get_public_access_block:
    case Operation::s3_put_public_access_block:
    case Operation::s3_delete_public_access_block:
    case Operation::s3_get_etag_kind:
    case Operation::s3_put_etag_kind:
    case Operation::s3_get_durability:
    case Operation::s3_put_durability:
    case Operation::s3_get_undo_window:
    case Operation::s3_put_undo_window:
    case Operation::s3_get_bucket_tagging:
    case Operation::s3_put_bucket_tagging:
    case Operation::s3_delete_bucket_tagging:
    case Operation::s3_get_bucket_policy:
    case Operation::s3_put_bucket_policy:
    case Operation::s3_delete_bucket_policy:
    case Operation::s3_get_bucket_policy_status:
    case Operation::s3_get_cors:
    case Operation::s3_put_cors:
    case Operation::s3_delete_cors:
    case Operation::s3_get_lifecycle:
    case Operation::s3_put_lifecycle:
    case Operation::s3_delete_lifecycle:
    case Operation::s3_get_bucket_acl:
    case Operation::s3_put_bucket_acl: return kKeyHolders;
    case Operation::read_dataset:
    case Operation::s3_head_bucket:
    case Operation::s3_get_bucket_location:
    case Operation::s3_list_objects:
    case Operation::s3_list_objects_v2:
    case Operation::s3_list_uploads:
    case Operation::s3_list_versions:
    case Operation::s3_get_object:
    case Operation::s3_head_object:
    case Operation::s3_get_attributes:
    case Operation::s3_read_shard:
    case Operation::s3_list_members:
    case Operation::s3_put_object:
    case Operation::s3_copy_object:
    case Operation::s3_delete_object:
    case Operation::s3_delete_objects:
    case Operation::s3_create_upload:
    case Operation::s3_upload_part:
    case Operation::s3_upload_part_copy:
    case Operation::s3_complete_upload:
    case Operation::s3_abort_upload:
    case Operation::s3_list_parts:
    case Operation::s3_get_tagging:
    case Operation::s3_put_tagging:
    case Operation::s3_delete_tagging:
    case Operation::s3_get_object_acl:
    case Operation::s3_put_object_acl: return kWhomBucketsAdmit;
    // Tells of the rules that a bucket has for browsers, which they must know before they ask.
    case Operation::s3_preflight: return kEverybody;
  }
  LEAT_CHECK(false);
}

}  // namespace

bool permits(Operation operation, AuthKind kind) {
  const Access access = access_to(operation);
  switch (kind) {
    case AuthKind::anonymous: return access.anonymous;
    case AuthKind::same_machine: return access.same_machine;
    case AuthKind::admin_token: return access.admin_token;
    case AuthKind::access_key: return access.access_key;
  }
  LEAT_CHECK(false);
}

std::string_view name_of(Operation operation) {
  static constexpr std::array<std::string_view, kOperationCount> kNames = {
#define LEAT_X(name) #name,
      LEAT_OPERATIONS(LEAT_X)
#undef LEAT_X
  };
  return kNames[static_cast<std::size_t>(operation)];
}

std::string_view name_of(AuthKind kind) {
  switch (kind) {
    case AuthKind::anonymous: return "anonymous";
    case AuthKind::same_machine: return "same_machine";
    case AuthKind::admin_token: return "admin_token";
    case AuthKind::access_key: return "access_key";
  }
  LEAT_CHECK(false);
}

}  // namespace leat::http
