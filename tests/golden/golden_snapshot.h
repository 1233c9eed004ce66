// The golden snapshot (tests/golden/snapshot-1.snap), made of fixed inputs:
// docs/formats/snapshot.md.
#pragma once

#include <string>

namespace leat::golden {

std::string make_snapshot();

}  // namespace leat::golden
