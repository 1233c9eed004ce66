// The media type that the end of a name stands for.
#pragma once

#include <string_view>

namespace leat::http1 {

// "image/jpeg" for "cats/tom.JPEG"; "application/octet-stream" for what is not known.
std::string_view media_type_of(std::string_view name);

}  // namespace leat::http1
