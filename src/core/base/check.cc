#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace leat {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "leat: bug: %s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace leat
