#include "stored/body.h"

#include <gtest/gtest.h>

namespace leat::stored {
namespace {

// The bytes of large objects come from real stores in the tests of the protocols.
TEST(Body, WhatIsInMemoryIsSentFromThereAndKeptAlive) {
  auto owner = std::make_shared<const std::string>("hello");
  http::Response response(200);
  set_body(response, volume::Content{.owner = owner, .bytes = as_bytes(*owner)}, owner->size());
  const auto* body = std::get_if<http::MemoryBody>(&response.body);
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(as_text(body->bytes), "hello");
  EXPECT_EQ(owner.use_count(), 2);
}

}  // namespace
}  // namespace leat::stored
