#include "leat/harmless.h"

#include <gtest/gtest.h>

namespace leat::programs {
namespace {

TEST(Harmless, ControlCharactersAreShownByTheirBytes) {
  EXPECT_EQ(harmless("plain ümläut 日本"), "plain ümläut 日本");
  EXPECT_EQ(harmless("a\x1b[2Jb\r\n\t\x7f"), "a\\x1b[2Jb\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(harmless("\xc2\x9b"
                     "2J\xc2\xa0"),
            "\\xc2\\x9b"
            "2J\xc2\xa0");
  EXPECT_EQ(harmless("\xc2"), "\xc2");
}

}  // namespace
}  // namespace leat::programs
