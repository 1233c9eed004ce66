#include <sys/random.h>

#include "base/check.h"
#include "io/rng.h"

namespace leat::io {

std::uint64_t SystemRng::next() {
  std::uint64_t value = 0;
  LEAT_CHECK(getrandom(&value, sizeof(value), 0) == sizeof(value));
  return value;
}

}  // namespace leat::io
