#include "s3client/credentials.h"

#include <gtest/gtest.h>

namespace leat::s3client {
namespace {

constexpr const char* kCredentials =
    "[default]\n"
    "aws_access_key_id = D\n"
    "aws_secret_access_key = DS\n"
    "# a comment\n"
    "[lab]\n"
    "aws_access_key_id=L\n"
    "aws_secret_access_key=LS\n"
    "aws_session_token=LT\n";

constexpr const char* kConfig =
    "[default]\n"
    "region = eu-1\n"
    "[profile lab]\n"
    "region = lab-1\n"
    "services = labs\n"
    "[services labs]\n"
    "s3 =\n"
    "  endpoint_url = http://lab:9000\n";

ProfileSources sources(std::map<std::string, std::string> environment = {},
                       std::string profile = "") {
  return {.environment = std::move(environment),
          .credentials_text = kCredentials,
          .config_text = kConfig,
          .profile = std::move(profile)};
}

TEST(Credentials, TheEnvironmentBeatsTheDefaultProfile) {
  const auto profile = find_profile(sources({{"AWS_ACCESS_KEY_ID", "E"},
                                             {"AWS_SECRET_ACCESS_KEY", "ES"},
                                             {"AWS_ENDPOINT_URL", "http://env:1"},
                                             {"AWS_DEFAULT_REGION", "r"}}));
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->credentials, (Credentials{"E", "ES", ""}));
  EXPECT_EQ(profile->endpoint, "http://env:1");
  EXPECT_EQ(profile->region, "r");
}

TEST(Credentials, AProfileThatWasNamedBeatsTheEnvironment) {
  const auto profile = find_profile(sources({{"AWS_ACCESS_KEY_ID", "E"},
                                             {"AWS_SECRET_ACCESS_KEY", "ES"},
                                             {"AWS_ENDPOINT_URL", "http://env:1"}},
                                            "lab"));
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->credentials, (Credentials{"L", "LS", "LT"}));
  EXPECT_EQ(profile->endpoint, "http://lab:9000");
  EXPECT_EQ(profile->region, "lab-1");
}

TEST(Credentials, WithoutAnythingElseTheDefaultProfileCounts) {
  const auto profile = find_profile(sources());
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->credentials->access_key, "D");
  EXPECT_EQ(profile->region, "eu-1");
  EXPECT_EQ(profile->endpoint, "");
}

TEST(Credentials, NoneAtAllIsNoError) {
  const auto profile = find_profile({});
  ASSERT_TRUE(profile);
  EXPECT_FALSE(profile->credentials);
}

TEST(Credentials, HalfAKeyIsRefusedAndNamed) {
  const auto refused = find_profile(sources({{"AWS_ACCESS_KEY_ID", "E"}}));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail().find("AWS_SECRET_ACCESS_KEY"), std::string_view::npos);
}

TEST(Credentials, AProfileThatNobodyWroteIsAnError) {
  const auto refused = find_profile(sources({{"AWS_PROFILE", "home"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::not_found);
}

}  // namespace
}  // namespace leat::s3client
