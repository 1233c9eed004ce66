#include "leat/columns.h"

#include <gtest/gtest.h>

#include <array>

namespace leat::programs {
namespace {

constexpr std::array kColumns = {Column{"ID"}, Column{"SIZE", /*is_number=*/true}, Column{"WHY"}};

TEST(Columns, ATerminalGetsAHeadingAndAlignedTexts) {
  EXPECT_EQ(columns_text(kColumns, {{"a", "7", ""}, {"longer", "12345", "x"}}, true),
            "ID       SIZE  WHY\n"
            "a           7\n"
            "longer  12345  x\n");
}

TEST(Columns, APipeGetsALineForEachRowWithTabs) {
  EXPECT_EQ(columns_text(kColumns, {{"", "7", "a\tb\nc"}}, false), "\t7\ta b c\n");
}

TEST(Columns, NoHeadingIsNoLine) {
  const std::array plain = {Column{""}, Column{""}};
  EXPECT_EQ(columns_text(plain, {{"a", "b"}}, true), "a  b\n");
}

}  // namespace
}  // namespace leat::programs
