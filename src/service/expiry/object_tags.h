// The tags of an object as lifecycle rules compare them.
#pragma once

#include <vector>

#include "lifecycle/lifecycle.h"
#include "record/types.h"

namespace leat::expiry {

// Of the attribute in which the S3 API keeps them ("a=1&b=2", percent-encoded). None where it
// cannot be read: no rule about tags fits such an object.
std::vector<lifecycle::Tag> tags_of(const std::vector<record::Attribute>& attributes);

}  // namespace leat::expiry
