// ACLs, as far as Leat has them: an object or a bucket is private, or public to read.
//
// A public object can be read, a public bucket listed, by everybody; ACLs say nothing else. To make
// something public needs the right to administer, or a policy that allows s3:PutObjectAcl.
#pragma once

#include <string_view>

#include "s3/attributes.h"
#include "s3/call.h"

namespace leat::s3 {

constexpr std::string_view kAcl = "x-amz-acl";  // of a request; the attribute of a public object
constexpr std::string_view kPublicRead = "public-read";

bool is_public(const record::Version& version);
bool is_public(const record::Bucket& bucket);

// Whether x-amz-acl asks for a public object. Errors: AccessDenied.
S3Result<bool> wants_public(const Call& call);
// The same, noted among the attributes of a new object.
S3Status note_acl(const Call& call, Attributes& attributes);

}  // namespace leat::s3
