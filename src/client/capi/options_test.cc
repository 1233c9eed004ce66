#include "capi/options.h"

#include <gtest/gtest.h>

#include <array>

namespace leat::capi {
namespace {

constexpr std::array<std::string_view, 4> kKnown = {"seed", "shuffle", "rows", "scale"};

TEST(Options, AreWhatTheTextSaysOrTheirDefaults) {
  const auto options =
      Options::parse(R"({"seed": 7, "rows": [1, 2], "scale": [0.5, 1], "shuffle": null})", kKnown);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->number("seed", 0).value(), 7U);
  EXPECT_EQ(options->numbers("rows").value(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(options->reals("scale").value(), (std::vector<double>{0.5, 1}));
  EXPECT_FALSE(options->has("shuffle")) << "null is as if it were not there";
  EXPECT_EQ(Options::parse(nullptr, kKnown)->number("seed", 3).value(), 3U);
}

TEST(Options, AnUnknownNameIsToldWithTheNearest) {
  const auto wrong = Options::parse(R"({"sed": 7})", kKnown);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().detail().find("did you mean seed?"), std::string_view::npos);
  EXPECT_FALSE(Options::parse("{", kKnown));
  EXPECT_FALSE(Options::parse("[]", kKnown));
}

TEST(Options, AValueOfAnotherKindIsRefused) {
  const auto options = Options::parse(R"({"seed": -1, "rows": ["x"], "shuffle": "x"})", kKnown);
  ASSERT_TRUE(options);
  EXPECT_FALSE(options->number("seed", 0));
  EXPECT_FALSE(options->numbers("rows"));
  EXPECT_FALSE(options->flag("seed", false));
  constexpr std::array<std::string_view, 2> kWords = {"block", "none"};
  EXPECT_FALSE(options->word("shuffle", kWords));
}

}  // namespace
}  // namespace leat::capi
