#include "config/config.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace leat::config {
namespace {

using namespace std::chrono_literals;

constexpr auto kSettings = std::to_array<Setting>({
    {"listen", Kind::text, "127.0.0.1:9000", "address to listen on"},
    {"shards", Kind::integer, "0", "threads, 0 for one per core"},
    {"http.head_max_bytes", Kind::bytes, "64KiB", "largest request head"},
    {"http.idle_timeout", Kind::duration, "30s", "when an idle connection is closed"},
    {"tls.enabled", Kind::boolean, "false", "serve HTTPS", "--tls"},
    {"data", Kind::list, "", "directories"},
    {"admin.key", Kind::text, "", "key of the admin API", {}, /*secret=*/true},
});

Config loaded(const Sources& sources) {
  Result<Config> config = load(kSettings, sources);
  EXPECT_TRUE(config.has_value()) << config.error().detail();
  return std::move(config).value();
}

std::string errors(const Sources& sources) {
  const Result<Config> config = load(kSettings, sources);
  if (config) return "none";
  EXPECT_EQ(config.error().code(), Errc::bad_request);
  return std::string(config.error().detail());
}

Entry entry(const Config& config, std::string_view key) {
  for (const Entry& row : config.entries()) {
    if (row.key == key) return row;
  }
  return {};
}

TEST(Setting, DerivesFlagAndVariableFromTheKey) {
  EXPECT_EQ(flag_name(kSettings[2]), "--http-head-max-bytes");
  EXPECT_EQ(environment_name(kSettings[2]), "LEAT_HTTP_HEAD_MAX_BYTES");
  EXPECT_EQ(flag_name(kSettings[4]), "--tls");
  EXPECT_EQ(environment_name(kSettings[4]), "LEAT_TLS_ENABLED");
}

TEST(Config, HasDefaultsOfEveryKind) {
  const Config config = loaded({});
  EXPECT_EQ(config.text("listen"), "127.0.0.1:9000");
  EXPECT_EQ(config.integer("shards"), 0);
  EXPECT_EQ(config.bytes("http.head_max_bytes"), 65'536U);
  EXPECT_EQ(config.duration("http.idle_timeout"), 30s);
  EXPECT_FALSE(config.boolean("tls.enabled"));
  EXPECT_TRUE(config.list("data").empty());
  EXPECT_EQ(entry(config, "listen").origin, "default");
  EXPECT_EQ(entry(config, "http.head_max_bytes").value, "64KiB");
}

TEST(Config, ReadsEveryKindFromToml) {
  const Config config = loaded({.toml_text = "listen = \"[::1]:80\"\n"
                                             "shards = 4\n"
                                             "data = [\"/a,b\", \"/c\"]\n"
                                             "[http]\n"
                                             "head_max_bytes = 1024\n"
                                             "idle_timeout = \"5m\"\n"
                                             "[tls]\n"
                                             "enabled = true\n"});
  EXPECT_EQ(config.text("listen"), "[::1]:80");
  EXPECT_EQ(config.integer("shards"), 4);
  EXPECT_EQ(config.bytes("http.head_max_bytes"), 1024U);
  EXPECT_EQ(config.duration("http.idle_timeout"), 5min);
  EXPECT_TRUE(config.boolean("tls.enabled"));
  EXPECT_EQ(config.list("data"), (std::vector<std::string>{"/a,b", "/c"}));
  EXPECT_EQ(entry(config, "data").value, "/a,b, /c");
  EXPECT_EQ(entry(config, "http.idle_timeout").origin, "leat.toml:6");
}

TEST(Config, LetsFlagsWinOverEnvironmentOverTomlOverDefaults) {
  Sources sources{.toml_text = "listen = \"toml\"", .toml_name = "etc/leat.toml"};
  EXPECT_EQ(entry(loaded(sources), "listen").value, "toml");
  EXPECT_EQ(entry(loaded(sources), "listen").origin, "etc/leat.toml:1");
  sources.environment["LEAT_LISTEN"] = "environment";
  EXPECT_EQ(entry(loaded(sources), "listen").value, "environment");
  EXPECT_EQ(entry(loaded(sources), "listen").origin, "LEAT_LISTEN");
  sources.flags = {{"listen", "first"}, {"listen", "flag"}};
  EXPECT_EQ(entry(loaded(sources), "listen").value, "flag");
  EXPECT_EQ(entry(loaded(sources), "listen").origin, "--listen");
  EXPECT_EQ(loaded(sources).text("listen"), "flag");
}

TEST(Config, CollectsARepeatedListFlagInsteadOfTheLowerSources) {
  const Config config = loaded(
      {.environment = {{"LEAT_DATA", "/env"}}, .flags = {{"data", "/a"}, {"data", "/b,/c"}}});
  EXPECT_EQ(config.list("data"), (std::vector<std::string>{"/a", "/b", "/c"}));
  EXPECT_EQ(entry(config, "data").value, "/a, /b,/c");
}

TEST(Config, ListsEntriesInTheOrderOfTheSchemaWithSecretsHidden) {
  const Config config = loaded({.flags = {{"admin.key", "hunter2"}, {"tls.enabled", "on"}}});
  const std::vector<Entry> rows = config.entries();
  ASSERT_EQ(rows.size(), kSettings.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].key, kSettings[i].key);
  }
  EXPECT_EQ(rows[4].origin, "--tls");
  EXPECT_EQ(rows[6].value, "[redacted]");
  EXPECT_EQ(config.text("admin.key"), "hunter2");
  EXPECT_EQ(entry(loaded({}), "admin.key").value, "");
}

TEST(ConfigErrors, NameUnknownKeysTheirLineAndTheNearestOne) {
  EXPECT_EQ(errors({.toml_text = "\n\nlistn = \"x\""}),
            "unknown key `listn` in leat.toml:3; did you mean `listen`?");
  EXPECT_EQ(errors({.toml_text = "[htpp]\nidle_timeout = \"1s\""}),
            "unknown key `htpp.idle_timeout` in leat.toml:2; did you mean `http.idle_timeout`?");
  EXPECT_EQ(errors({.toml_text = "head_max_bytes = 5"}),
            "unknown key `head_max_bytes` in leat.toml:1; did you mean `http.head_max_bytes`?");
  EXPECT_EQ(errors({.toml_text = "colour = \"red\""}), "unknown key `colour` in leat.toml:1");
  EXPECT_EQ(errors({.toml_text = "\"two\\nlines\" = 1"}), "unknown key `two?lines` in leat.toml:1");
}

TEST(ConfigErrors, NameUnknownVariablesButNotReservedOrForeignOnes) {
  EXPECT_EQ(errors({.environment = {{"LEAT_LISTN", "x"}}}),
            "unknown variable LEAT_LISTN; did you mean `LEAT_LISTEN`?");
  EXPECT_EQ(errors({.environment = {{"LEAT_CONFIG", "x"}, {"PATH", "x"}, {"LEATHER", "x"}},
                    .reserved = {"LEAT_CONFIG"}}),
            "none");
}

TEST(ConfigErrors, NameUnknownFlagKeys) {
  EXPECT_EQ(errors({.flags = {{"shard", "1"}}}), "unknown setting `shard`; did you mean `shards`?");
}

TEST(ConfigErrors, AcceptAnEmptySectionOnlyIfItExists) {
  EXPECT_EQ(errors({.toml_text = "[http]\n[tls]\n"}), "none");
  EXPECT_EQ(errors({.toml_text = "[web]\n"}), "unknown key `web` in leat.toml:1");
  EXPECT_EQ(errors({.toml_text = "[listen]\n"}),
            "bad value for `listen` in leat.toml:1: expected text in quotes");
}

TEST(ConfigErrors, RefuseTomlValuesOfAnotherType) {
  const auto why = [](std::string toml) {
    const std::string message = errors({.toml_text = std::move(toml)});
    return message.substr(message.find(": ") + 2);
  };
  EXPECT_EQ(why("listen = 80"), "expected text in quotes");
  EXPECT_EQ(why("shards = \"4\""), "expected a whole number without quotes");
  EXPECT_EQ(why("shards = 4.0"), "expected a whole number without quotes");
  EXPECT_EQ(why("tls.enabled = \"true\""), "expected true or false without quotes");
  EXPECT_EQ(why("http.head_max_bytes = true"), "expected a size such as 512 or \"64KiB\"");
  EXPECT_EQ(why("http.idle_timeout = 30"), "expected a duration in quotes, such as \"30s\"");
  EXPECT_EQ(why("data = \"/a\""), "expected a list such as [\"a\", \"b\"]");
  EXPECT_EQ(why("data = [\"/a\", 1]"), "expected a list such as [\"a\", \"b\"]");
  EXPECT_EQ(why("http.head_max_bytes = -1"), "expected a size such as 512, 64KiB or 10MB");
}

TEST(ConfigErrors, AreAllReportedTogetherOnePerLine) {
  EXPECT_EQ(errors({.toml_text = "shards = 2\n"
                                 "shrads = 3\n"
                                 "[http]\n"
                                 "head_max_bytes = \"64 potatoes\"\n",
                    .environment = {{"LEAT_HTTP_IDLE_TIMEOUT", "soon\nor later"}, {"LEAT_X", ""}},
                    .flags = {{"shards", "many"}, {"admin.key", "fine"}}}),
            "unknown key `shrads` in leat.toml:2; did you mean `shards`?\n"
            "bad value `64 potatoes` for `http.head_max_bytes` in leat.toml:4: "
            "expected a size such as 512, 64KiB or 10MB\n"
            "bad value `soon?or later` in LEAT_HTTP_IDLE_TIMEOUT: "
            "expected a duration such as 250ms, 30s or 5m\n"
            "unknown variable LEAT_X\n"
            "bad value `many` for --shards: expected a whole number");
}

TEST(ConfigErrors, TellWhereTheTextIsNotToml) {
  const std::string message =
      errors({.toml_text = "listen = \"x\"\nshards = = 2\n", .flags = {{"shards", "x"}}});
  EXPECT_TRUE(message.starts_with("leat.toml:2: ")) << message;
  EXPECT_TRUE(message.ends_with("\nbad value `x` for --shards: expected a whole number"))
      << message;
}

TEST(ConfigErrors, NeverShowASecret) {
  constexpr auto kSecret =
      std::to_array<Setting>({{"pin", Kind::integer, "0", "a number", {}, /*secret=*/true}});
  const auto config = load(kSecret, {.flags = {{"pin", "hunter2"}}});
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().detail(), "bad value [redacted] for --pin: expected a whole number");
}

TEST(ConfigDeathTest, AskingForAnUndeclaredKeyOrAnotherKindIsABug) {
  const Config config = loaded({});
  EXPECT_DEATH(config.text("nothing"), "in the schema");
  EXPECT_DEATH(config.integer("listen"), "kind");
}

TEST(ConfigDeathTest, ASchemaWithABadDefaultOrTwoEqualNamesIsABug) {
  constexpr auto kBadDefault = std::to_array<Setting>({{"a", Kind::integer, "x", "help"}});
  constexpr auto kClash =
      std::to_array<Setting>({{"a.b", Kind::text, "", "help"}, {"a_b", Kind::text, "", "help"}});
  EXPECT_DEATH(std::ignore = load(kBadDefault, {}), "has_value");
  EXPECT_DEATH(std::ignore = load(kClash, {}), "names");
}

}  // namespace
}  // namespace leat::config
