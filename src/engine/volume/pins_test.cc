#include "volume/pins.h"

#include <gtest/gtest.h>

namespace leat::volume {
namespace {

using record::FileId;

TEST(Pins, AFileIsWantedWhenAsMuchOfItWasReadAsItHas) {
  Pins pins(1000);
  EXPECT_FALSE(pins.wants_after(FileId(1), 100, 60));
  EXPECT_FALSE(pins.wants_after(FileId(2), 100, 60)) << "each is counted by itself";
  EXPECT_TRUE(pins.wants_after(FileId(1), 100, 60));
  EXPECT_FALSE(pins.wants_after(FileId(1), 100, 100)) << "it is about to be pinned";
  pins.done(FileId(1), nullptr);
  EXPECT_FALSE(pins.wants_after(FileId(1), 100, 60)) << "and counted anew when that failed";
  EXPECT_TRUE(pins.wants_after(FileId(2), 100, 60));
}

TEST(Pins, AFileThatWouldPushOutTooMuchIsNotWantedHoweverOftenItIsRead) {
  Pins pins(1000);
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(pins.wants_after(FileId(1), 300, 300));
}

TEST(Pins, WhatIsReadOncePushesNothingOut) {
  Pins pins(200);
  ASSERT_TRUE(pins.wants_after(FileId(1), 50, 50));
  ASSERT_TRUE(pins.wants_after(FileId(2), 50, 50));
  ASSERT_TRUE(pins.wants_after(FileId(3), 50, 50));
  ASSERT_TRUE(pins.wants_after(FileId(4), 50, 50));
  EXPECT_FALSE(pins.wants_after(FileId(5), 50, 50)) << "there is no room";
  EXPECT_TRUE(pins.wants_after(FileId(5), 50, 50)) << "but for what is read again soon";
}

}  // namespace
}  // namespace leat::volume
