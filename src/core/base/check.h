// LEAT_CHECK(condition): a bug or corrupted memory ends the process with file, line and condition.
// Always on. Never used on what a client sent or a disk returned: that is a Result.
#pragma once

namespace leat {

[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace leat

#define LEAT_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::leat::check_failed(__FILE__, __LINE__, #condition))
