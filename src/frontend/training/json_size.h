// How much a JSON text holds, before it becomes a tree of values that takes many times its length.
// Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace leat::training {

// `values_max`: lists, objects and what stands in them.
// Errors: bad_request, when there are more of them, or they stand in each other too deep.
Status check_json_size(std::string_view text, std::size_t values_max);

}  // namespace leat::training
