// Versions of objects: how requests name them and answers tell them.
#pragma once

#include <optional>

#include "s3/call.h"

namespace leat::s3 {

// The version that a query or a copy source names. Errors: InvalidArgument.
S3Result<store::VersionName> version_name(std::string_view text);
// That of the query's versionId; nothing without one.
S3Result<std::optional<store::VersionName>> version_in(const Call& call);

// Something to read: an object as it is now, or one version of it.
struct VersionOf {
  std::string_view bucket_name{};
  record::Bucket bucket{};
  std::string key{};
  std::optional<store::VersionName> version{};
};
// Errors: NoSuchKey or NoSuchVersion (AccessDenied to who may not list), MethodNotAllowed for a
// delete marker that is asked for by its name. What was deleted is told as such in the head.
S3Task<store::Found> find_object(Call& call, VersionOf wanted);
// What the request itself is about.
S3Task<store::Found> find_object(Call& call);

// Sets one attribute of what the request is about, or takes it away; the others stay as they are by
// then. Errors: those of find_object().
S3Task<void> set_attribute(Call& call, std::string_view name, std::optional<std::string> value);

// x-amz-version-id, in a bucket that keeps versions or did.
void add_version_id(http::Response& response, const record::Bucket& bucket,
                    const record::Version& version, std::string_view field = "x-amz-version-id");

// What a deletion has done.
struct Deleted {
  std::optional<std::string> version{};  // that was removed, or of the marker that was made
  bool is_marker = false;                // it is one
};
// A version goes for good; without one the object goes, or gets a delete marker.
S3Task<Deleted> delete_version(Call& call, record::ObjectKey object,
                               std::optional<store::VersionName> version,
                               std::optional<std::string> etag);

}  // namespace leat::s3
