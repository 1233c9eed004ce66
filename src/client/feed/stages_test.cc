#include "feed/stages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace leat::feed {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::string verdict(const Stages& stages, const FeedShape& shape = {}) {
  return nlohmann::json::parse(report_of(stages, shape))["verdict"];
}

TEST(Report, WhoHardlyWaitsIsTheSlowestItself) {
  Stages stages;
  stages.away_ns = 99 * kSecond;
  stages.wait_fetch_ns = kSecond;
  EXPECT_EQ(verdict(stages), "consumer");
}

TEST(Report, WaitingForBytesIsTheNetworkOrTheDiskByWhereMostCameFrom) {
  Stages stages;
  stages.away_ns = kSecond;
  stages.wait_fetch_ns = 2 * kSecond;
  stages.wait_fill_ns = kSecond;
  stages.fetched_bytes = 1000;
  EXPECT_EQ(verdict(stages), "network");
  stages.local_bytes = 500;
  EXPECT_EQ(verdict(stages), "network");
  stages.local_bytes = 501;
  EXPECT_EQ(verdict(stages), "disk");
}

TEST(Report, WaitingForThreadsIsDecodingWhereverBytesCameFrom) {
  Stages stages;
  stages.away_ns = kSecond;
  stages.wait_fetch_ns = kSecond;
  stages.wait_fill_ns = 2 * kSecond;
  stages.fetched_bytes = 1000;
  stages.local_bytes = 1000;
  EXPECT_EQ(verdict(stages, {.decodes = true}), "decode");
  EXPECT_EQ(verdict(stages), "decode");
}

}  // namespace
}  // namespace leat::feed
