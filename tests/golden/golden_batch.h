// The answer to a batch with one item of each kind: docs/formats/batch.md shows its bytes.
#pragma once

#include <string>

namespace leat::golden {

std::string make_batch();

}  // namespace leat::golden
