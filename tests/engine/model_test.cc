// The model test: random sequences of everything a volume can do, against model.h.
//
//   LEAT_MODEL_SEQUENCES=1 LEAT_MODEL_SEED=<seed> leat_model_test      runs one seed again
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/sequence.h"
#include "engine/test_environment.h"

namespace leat::model {
namespace {

constexpr std::uint64_t kOperations = 50;
// Sequences are run in this many tests, so that gtest can share them out between processes.
constexpr std::uint64_t kShares = 2;

constexpr std::uint64_t kFailuresShown = 20;

class ModelTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ModelTest, TheStoreDoesWhatTheModelSays) {
  const std::uint64_t sequences = number_from_env("LEAT_MODEL_SEQUENCES", 20'000);
  const std::uint64_t first = number_from_env("LEAT_MODEL_SEED", 1);
  TestEnvironment environment;
  std::uint64_t failures = 0;
  std::uint64_t reboots = 0;
  std::uint64_t operations = 0;
  for (std::uint64_t i = GetParam(); i < sequences; i += kShares) {
    const std::uint64_t seed = first + i;
    const SequenceResult result = run_sequence(seed, kOperations, environment.logger());
    reboots += result.reboots;
    operations += result.operations;
    if (result.failure.empty()) continue;
    ADD_FAILURE() << "seed " << seed << ": " << result.failure
                  << "run this seed again: LEAT_MODEL_SEQUENCES=1 LEAT_MODEL_SEED=" << seed
                  << " leat_model_test";
    if (++failures == kFailuresShown) break;
  }
  RecordProperty("operations", std::to_string(operations));
  fmt::print("{} operations, {} reboots\n", operations, reboots);
}

INSTANTIATE_TEST_SUITE_P(Share, ModelTest, ::testing::Range<std::uint64_t>(0, kShares));

}  // namespace
}  // namespace leat::model
