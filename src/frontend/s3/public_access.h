// The public-access block of a bucket: what is never public, whatever policies and ACLs say.
#pragma once

#include <string>
#include <string_view>

#include "record/types.h"

namespace leat::s3 {

constexpr std::string_view kPublicAccessProperty = "s3.public-access-block";

struct PublicAccessBlock {
  bool refuses_acls = false;      // BlockPublicAcls: none can be made public
  bool ignores_acls = false;      // IgnorePublicAcls: those that are count as private
  bool refuses_policy = false;    // BlockPublicPolicy: none that admits everybody can be set
  bool restricts_bucket = false;  // RestrictPublicBuckets: one that does admits nobody unknown

  bool operator==(const PublicAccessBlock&) const = default;
};

// All off without one.
PublicAccessBlock public_access_block(const record::Bucket& bucket);

}  // namespace leat::s3
