#include "leat/client_settings.h"

#include <gtest/gtest.h>

#include "io/disk.h"
#include "leat/table.h"
#include "support/temp_folder.h"

namespace leat::programs {
namespace {

class ClientSettingsTest : public ::testing::Test {
 protected:
  ClientSettingsTest() {
    invocation_.environment = {
        {"HOME", folder_.path()}, {"AWS_ACCESS_KEY_ID", "K"}, {"AWS_SECRET_ACCESS_KEY", "S"}};
  }

  void write(const std::string& name, std::string_view text) {
    const std::string path = folder_.path(name);
    ASSERT_TRUE(disk_.make_directories(path.substr(0, path.rfind('/'))));
    ASSERT_TRUE(io::replace_text(disk_, path, text));
  }

  Result<ClientSettings> load(const std::vector<std::string>& words) {
    const Grammar grammar{.command = find_command("ls"),
                          .positional = "WORD",
                          .positionals_max = 9,
                          .is_client = true};
    LEAT_TRY(const Arguments arguments, parse_arguments(grammar, words));
    return client_settings(invocation_, arguments);
  }

  testing::TempFolder folder_;
  io::PosixDisk disk_;
  Invocation invocation_;
};

TEST_F(ClientSettingsTest, FindsALocalNodeByDefault) {
  const auto settings = load({});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->endpoint.url, "http://127.0.0.1:9000");
  EXPECT_EQ(settings->signer.access_key, "K");
  EXPECT_EQ(settings->signer.region, "us-east-1");
  EXPECT_EQ(settings->jobs, 32U);
}

TEST_F(ClientSettingsTest, AFlagBeatsTheEnvironmentBeatsTheFile) {
  write(".config/leat/config.toml", "endpoint = \"http://file:1\"\njobs = 5\nregion = \"r\"\n");
  EXPECT_EQ(load({})->endpoint.url, "http://file:1");
  EXPECT_EQ(load({})->jobs, 5U);
  invocation_.environment["LEAT_ENDPOINT"] = "http://env:2";
  EXPECT_EQ(load({})->endpoint.url, "http://env:2");
  EXPECT_EQ(load({"--endpoint", "http://flag:3"})->endpoint.url, "http://flag:3");
  EXPECT_EQ(load({"leat://path:4/b/k", "--endpoint", "http://flag:3"})->endpoint.url,
            "http://path:4");
  EXPECT_FALSE(load({"leat://one/b", "leat://two/b"}));
}

TEST_F(ClientSettingsTest, AProfileOfOurFileMayNameTheOneOfAws) {
  write(".config/leat/config.toml",
        "[profile.lab]\nendpoint = \"http://lab:1\"\nprofile = \"labkey\"\n");
  write(".aws/credentials", "[labkey]\naws_access_key_id=L\naws_secret_access_key=LS\n");
  const auto settings = load({"--profile", "lab"});
  ASSERT_TRUE(settings) << settings.error().message();
  EXPECT_EQ(settings->endpoint.url, "http://lab:1");
  EXPECT_EQ(settings->signer.access_key, "L");
}

TEST_F(ClientSettingsTest, SaysWhatIsMissingOrWrong) {
  invocation_.environment["LEAT_JOBS"] = "many";
  EXPECT_EQ(load({}).error().code(), Errc::bad_request);
  invocation_.environment.erase("LEAT_JOBS");
  invocation_.environment["LEAT_PART_SIZE"] = "1MiB";
  EXPECT_EQ(load({}).error().code(), Errc::bad_request);
  invocation_.environment.erase("LEAT_PART_SIZE");
  invocation_.environment.erase("AWS_ACCESS_KEY_ID");
  invocation_.environment.erase("AWS_SECRET_ACCESS_KEY");
  EXPECT_EQ(load({}).error().code(), Errc::denied);
}

}  // namespace
}  // namespace leat::programs
