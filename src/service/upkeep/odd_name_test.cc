#include "upkeep/odd_name.h"

#include <gtest/gtest.h>

namespace leat::upkeep {
namespace {

TEST(OddName, IsOneOnWhichReadersDiffer) {
  for (const char* name :
       {"d.v1/a", ".hidden.jpg", "d/.hidden.jpg", "d.x/.h.jpg", "a..jpg", "A.JPG", "a.Jpg", "a."}) {
    EXPECT_TRUE(why_odd(name)) << name;
  }
}

TEST(OddName, IsNoneOfTheCommonOnes) {
  for (const char* name : {"a.jpg", "d.v1/a.b.jpg", "a", "./a.jpg", "A.jpg", "n01/x_1.seg.png"})
    EXPECT_FALSE(why_odd(name)) << name;
}

}  // namespace
}  // namespace leat::upkeep
