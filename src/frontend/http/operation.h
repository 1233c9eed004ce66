// Operation: everything a client can ask of Leat over HTTP, and who may ask for it.
//
// One table for all front ends. A request is first routed to an Operation, then its credentials are
// checked, then permits() is asked: only after a yes can a handler run (http/dispatcher.h).
// permits() is two switches without a default, so a new operation or a new kind of credential does
// not compile until somebody has decided about every pair; http/operation_test.cc lists the pairs
// once more, by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leat::http {

// X(name): the name is also the label in metrics and logs.
#define LEAT_OPERATIONS(X)                                            \
  X(health)       /* is the process alive */                          \
  X(ready)        /* does it take requests */                         \
  X(version)      /* what is it */                                    \
  X(metrics)      /* Prometheus text */                               \
  X(read_file)    /* leat share: GET and HEAD of a file */            \
  X(write_file)   /* leat share --writable: PUT of a file */          \
  X(delete_file)  /* leat share --writable: DELETE of a file */       \
  X(list_buckets) /* names, properties and counts of all buckets */   \
  X(create_bucket)                                                    \
  X(remove_bucket)                                                    \
  X(list_objects) /* keys of a bucket */                              \
  X(read_object)  /* GET and HEAD */                                  \
  X(write_object)                                                     \
  X(remove_object)                                                    \
  X(change_object) /* bring back, copy */                             \
  X(list_disks)    /* how each disk is */                             \
  X(add_disk)      /* to the node that runs */                        \
  X(remove_disk)                                                      \
  X(list_keys)  /* access keys, without their secrets */              \
  X(create_key) /* an access key, with its secret this once */        \
  X(remove_key)                                                       \
  X(read_batch) /* many objects, members and samples in one answer */ \
  X(list_datasets)                                                    \
  X(read_dataset)  /* its versions, tags, samples, snapshot */        \
  X(write_dataset) /* make, commit, tag, remove */                    \
  X(open_local)    /* tickets for open files, on the same machine */  \
  X(s3_list_buckets)                                                  \
  X(s3_create_bucket)                                                 \
  X(s3_head_bucket)                                                   \
  X(s3_delete_bucket)                                                 \
  X(s3_get_bucket_location)                                           \
  X(s3_list_objects)                                                  \
  X(s3_list_objects_v2)                                               \
  X(s3_list_uploads)                                                  \
  X(s3_list_versions)                                                 \
  X(s3_get_versioning)                                                \
  X(s3_put_versioning)                                                \
  X(s3_get_public_access_block)                                       \
  X(s3_put_public_access_block)                                       \
  X(s3_delete_public_access_block)                                    \
  X(s3_get_etag_kind) /* of a bucket: MD5, or what costs less */      \
  X(s3_put_etag_kind)                                                 \
  X(s3_get_durability) /* of a bucket: of its writes */               \
  X(s3_put_durability)                                                \
  X(s3_get_undo_window) /* of a bucket: of what is deleted there */   \
  X(s3_put_undo_window)                                               \
  X(s3_get_bucket_tagging)                                            \
  X(s3_put_bucket_tagging)                                            \
  X(s3_delete_bucket_tagging)                                         \
  X(s3_get_object)                                                    \
  X(s3_head_object)                                                   \
  X(s3_get_attributes)                                                \
  X(s3_read_shard)   /* a member, a sample or some fields of it */    \
  X(s3_list_members) /* of a shard */                                 \
  X(s3_put_object)                                                    \
  X(s3_copy_object)                                                   \
  X(s3_delete_object)                                                 \
  X(s3_delete_objects)                                                \
  X(s3_create_upload)                                                 \
  X(s3_upload_part)                                                   \
  X(s3_upload_part_copy)                                              \
  X(s3_complete_upload)                                               \
  X(s3_abort_upload)                                                  \
  X(s3_list_parts)                                                    \
  X(s3_get_tagging)                                                   \
  X(s3_put_tagging)                                                   \
  X(s3_delete_tagging)                                                \
  X(s3_get_bucket_policy)                                             \
  X(s3_put_bucket_policy)                                             \
  X(s3_delete_bucket_policy)                                          \
  X(s3_get_bucket_policy_status)                                      \
  X(s3_get_cors)                                                      \
  X(s3_put_cors)                                                      \
  X(s3_delete_cors)                                                   \
  X(s3_get_lifecycle)                                                 \
  X(s3_put_lifecycle)                                                 \
  X(s3_delete_lifecycle)                                              \
  X(s3_get_bucket_acl)                                                \
  X(s3_put_bucket_acl)                                                \
  X(s3_get_object_acl)                                                \
  X(s3_put_object_acl)                                                \
  X(s3_preflight) /* OPTIONS, of a browser, before it sends another request */

enum class Operation : std::uint8_t {
#define LEAT_X(name) name,
  LEAT_OPERATIONS(LEAT_X)
#undef LEAT_X
};

#define LEAT_X(name) +1
constexpr std::size_t kOperationCount = 0 LEAT_OPERATIONS(LEAT_X);
#undef LEAT_X

// What a request proved about its sender. Wrong credentials are no kind: they are an error.
enum class AuthKind : std::uint8_t {
  anonymous,     // nothing was presented, and it may come from anywhere
  same_machine,  // nothing was presented, but it comes from this machine, not through a browser's
                 // trick, and not through a proxy that says so
  admin_token,   // the bearer token of this server
  access_key,    // the signature of an access key; what it may do, its rules say
};
constexpr std::size_t kAuthKindCount = 4;

bool permits(Operation operation, AuthKind kind);

std::string_view name_of(Operation operation);
std::string_view name_of(AuthKind kind);

}  // namespace leat::http
