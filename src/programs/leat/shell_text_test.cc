#include "leat/shell_text.h"

#include <gtest/gtest.h>

namespace leat::programs {
namespace {

TEST(ShellText, PlainWordsStayAndAllOthersAreQuoted) {
  EXPECT_EQ(shell_text("/srv/data-1/tls.pem"), "/srv/data-1/tls.pem");
  EXPECT_EQ(shell_text("http://127.0.0.1:9000"), "http://127.0.0.1:9000");
  EXPECT_EQ(shell_text(""), "''");
  EXPECT_EQ(shell_text("a b"), "'a b'");
  EXPECT_EQ(shell_text("$(x)`y`\"\\"), "'$(x)`y`\"\\'");
  EXPECT_EQ(shell_text("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_text("~"), "'~'");
}

}  // namespace
}  // namespace leat::programs
