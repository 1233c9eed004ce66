#include "leat/token.h"

#include <gtest/gtest.h>

#include "leat/settings.h"
#include "support/temp_folder.h"

namespace leat::programs {
namespace {

Result<std::optional<log::Secret>> token_in(const std::string& path) {
  const auto settings = load_settings(Invocation{}, {{"token_file", path}});
  return token_from_file(*settings);
}

TEST(Token, AFreshOneIsLongAndNotTheSameTwice) {
  io::SeededRng rng(1);
  const std::string first = fresh_token(rng);
  EXPECT_EQ(first.size(), 32U);
  EXPECT_NE(fresh_token(rng), first);
}

TEST(Token, AFileGivesItWithoutTheSpaceAroundIt) {
  const testing::TempFolder folder;
  folder.write("token", "  0123456789abcdef\n");
  EXPECT_EQ((*token_in(folder.path("token")))->reveal(), "0123456789abcdef");
  EXPECT_FALSE(token_in("")->has_value()) << "not set";
}

TEST(Token, AFileThatHoldsNoSecretIsRefused) {
  const testing::TempFolder folder;
  for (const char* text : {"", "\n", "short", "0123456789abcde\n", "two words of some length",
                           "0123456789abcdef\n0123456789abcdef"}) {
    folder.write("token", text);
    EXPECT_EQ(token_in(folder.path("token")).error().code(), Errc::bad_request) << text;
  }
  EXPECT_EQ(token_in(folder.path("missing")).error().code(), Errc::not_found);
}

}  // namespace
}  // namespace leat::programs
