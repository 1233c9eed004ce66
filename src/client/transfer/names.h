// Keys of objects as names of files, and what must not become one. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace leat::transfer {

// What a file is called while its bytes are still arriving.
constexpr std::string_view kPartSuffix = ".leat-part";

// The path below the target folder of an object that is called `relative` there.
// Errors: denied, for a name that would leave the folder (absolute, "..") or mean another file
// than it says ("a//b", "./a", a zero byte), or one that is still arriving ("a.leat-part").
Result<std::string> file_name_of(std::string_view relative);

// The path of the file that `path` is while it is incomplete: beside it, and short enough.
std::string part_path(std::string_view path);

// Objects that stand for empty folders: "photos/".
bool is_folder_marker(std::string_view key);

// After the last slash; without one the whole.
std::string_view last_name(std::string_view path);
// Before the last slash: "a" of "a/b", "/" of "/b", "." of "b".
std::string parent_of(std::string_view path);
// With one slash between them.
std::string join(std::string_view folder, std::string_view name);

}  // namespace leat::transfer
