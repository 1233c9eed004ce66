// Sequence: one run of the model test, from a seed.
#pragma once

#include <cstdint>
#include <string>

#include "log/logger.h"

namespace leat::model {

struct SequenceResult {
  std::string failure{};  // empty if all went well; else everything needed to look at it
  std::uint64_t operations = 0;
  std::uint64_t reboots = 0;
};

// `operations`: how many to do.
SequenceResult run_sequence(std::uint64_t seed, std::uint64_t operations, log::Logger& logger);

}  // namespace leat::model
