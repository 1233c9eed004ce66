#include "leat/arguments.h"

#include <gtest/gtest.h>

#include <array>

#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::array kSwitches = {Switch{"--json", "As JSON."}};
constexpr std::array kValueFlags = {ValueFlag{"--read", "WHERE", "What may be read."},
                                    ValueFlag{"--write", "WHERE", "What may be written."}};

Result<Arguments> parse(const std::vector<std::string>& words) {
  const Grammar grammar{.command = find_command("serve"),
                        .positional = "DIR",
                        .positionals_min = 1,
                        .positionals_max = 2,
                        .switches = kSwitches,
                        .value_flags = kValueFlags,
                        .takes_settings = true};
  return parse_arguments(grammar, words);
}

TEST(Arguments, FlagsMayStandAnywhere) {
  const auto arguments = parse({"a", "--listen", "127.0.0.1:1", "b", "--json", "--cores=2"});
  ASSERT_TRUE(arguments.has_value()) << arguments.error().message();
  EXPECT_EQ(arguments->positionals, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(arguments->has("--json"));
  const Flags expected = {{"cores", "2"}, {"listen", "127.0.0.1:1"}};
  EXPECT_EQ(arguments->settings, expected);
}

TEST(Arguments, FlagsWithValuesMayBeRepeatedAndTakeOneWordEach) {
  const auto arguments = parse({"--read", "x", "a", "--read=y", "b"});
  ASSERT_TRUE(arguments.has_value()) << arguments.error().message();
  EXPECT_EQ(arguments->positionals, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(arguments->values.at("--read"), (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(arguments->values.contains("--write"));
  EXPECT_FALSE(parse({"a", "--read"}).has_value());
}

TEST(Arguments, FlagsMayStandBeforeTheVerb) {
  using Words = std::vector<std::string>;
  const std::vector<std::string_view> verbs = {"ls", "top"};
  EXPECT_EQ(verb_first({"ls", "--json", "a"}, verbs), (Words{"ls", "--json", "a"}));
  EXPECT_EQ(verb_first({"--json", "ls", "a"}, verbs), (Words{"ls", "a", "--json"}));
  EXPECT_EQ(verb_first({"-q", "--profile", "top", "ls", "a"}, verbs),
            (Words{"ls", "a", "-q", "--profile", "top"}));
  EXPECT_EQ(verb_first({"--json", "ls", "--", "-a"}, verbs), (Words{"ls", "--json", "--", "-a"}));
  EXPECT_EQ(verb_first({"--json", "sl", "ls"}, verbs), (Words{"--json", "sl", "ls"}));
  EXPECT_EQ(verb_first({"--profile"}, verbs), (Words{"--profile"}));
  EXPECT_EQ(verb_first({}, verbs), Words{});
}

TEST(Arguments, AMistypedFlagNamesTheNearestOne) {
  const auto arguments = parse({"a", "--listn", "x"});
  ASSERT_FALSE(arguments.has_value());
  EXPECT_EQ(arguments.error().code(), Errc::bad_request);
  EXPECT_EQ(arguments.error().detail(), "unknown flag --listn; did you mean --listen?");
}

TEST(Arguments, TooFewAndTooManyPositionalsAreErrors) {
  EXPECT_EQ(parse({}).error().detail(), "DIR is missing");
  EXPECT_EQ(parse({"a", "b", "c"}).error().detail(), "unexpected argument c");
}

TEST(Arguments, AnEmptyValueIsAValue) {
  const auto arguments = parse({"a", "--tls-cert", ""});
  ASSERT_TRUE(arguments.has_value());
  const Flags expected = {{"tls_cert", ""}};
  EXPECT_EQ(arguments->settings, expected);
}

TEST(Arguments, HelpListsEverySetting) {
  const auto arguments = parse({"--help"});
  ASSERT_TRUE(arguments.has_value());
  for (const config::Setting& setting : server_settings()) {
    EXPECT_NE(arguments->help.find(config::flag_name(setting)), std::string::npos) << setting.key;
  }
}

TEST(Table, EveryErrorHasAnExitCodeOtherThanDone) {
  for (int i = 0; i <= static_cast<int>(Errc::would_block); ++i) {
    EXPECT_NE(exit_for(static_cast<Errc>(i)), Exit::done) << i;
  }
  EXPECT_EQ(exit_for(Errc::conflict), Exit::conflict);
  EXPECT_EQ(exit_for(Errc::denied), Exit::denied);
}

TEST(Table, BytesAreShownInUnitsPeopleRead) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(std::uint64_t{412} << 30), "412 GiB");
}

}  // namespace
}  // namespace leat::programs
