// What the tests of the store stand on: three simulated disks and a bucket.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "log/sink.h"
#include "store/shard_store.h"
#include "support/store_world.h"

namespace leat::store {

class NullSink final : public log::Sink {
 public:
  Status write(std::string_view /*lines*/) override { return {}; }
};

inline std::string pattern(std::size_t size, std::uint64_t seed) {
  std::string text(size, '\0');
  io::SeededRng(seed).fill(std::as_writable_bytes(std::span(text)));
  return text;
}

class StoreTest : public testing::Test {
 protected:
  explicit StoreTest(std::size_t disks = 3) : rig_(world_, logger_, disks) {
    EXPECT_TRUE(rig_.open());
    bucket_ = rig_.make_bucket("b");
  }

  record::ObjectKey key(std::string name) const {
    return {.bucket = bucket_, .key = std::move(name)};
  }
  Errc error_of(const auto& result) { return result ? Errc::internal : result.error().code(); }

  sim::SimWorld world_{1};
  NullSink sink_;
  log::Logger logger_{sink_, world_.clock("log")};
  test::StoreWorld rig_;
  record::BucketId bucket_{};
};

class OneDiskTest : public StoreTest {
 protected:
  OneDiskTest() : StoreTest(1) {}
};

}  // namespace leat::store
