#include "session/settings.h"

#include <gtest/gtest.h>

namespace leat::session {
namespace {

// Sources with files that a test writes down.
SettingSources sources(Texts given, std::map<std::string, std::string> environment,
                       std::map<std::string, std::string> files = {}) {
  return {.given = std::move(given),
          .environment = std::move(environment),
          .read_text = [files = std::move(files)](const std::string& path) -> Result<std::string> {
            const auto found = files.find(path);
            if (found == files.end()) return fail(Errc::not_found, path);
            return found->second;
          }};
}

TEST(ServiceSettings, WhatIsGivenBeatsTheEnvironmentBeatsTheFile) {
  const std::map<std::string, std::string> files = {
      {"/h/.config/leat/config.toml", "endpoint = \"http://file:1\"\nregion = \"r\"\n"},
      {"/h/.aws/credentials", "[default]\naws_access_key_id=F\naws_secret_access_key=FS\n"}};
  std::map<std::string, std::string> environment = {{"HOME", "/h"}};
  const auto by_file = find_service(sources({}, environment, files));
  ASSERT_TRUE(by_file) << by_file.error().message();
  EXPECT_EQ(by_file->endpoint.url, "http://file:1");
  EXPECT_EQ(by_file->signer.region, "r");
  EXPECT_EQ(by_file->signer.access_key, "F");
  environment["LEAT_ENDPOINT"] = "http://env:2";
  EXPECT_EQ(find_service(sources({}, environment, files))->endpoint.url, "http://env:2");
  const auto given = find_service(
      sources({{"endpoint", "http://given:3"}, {"access_key", "G"}, {"secret_key", "S"}},
              environment, files));
  EXPECT_EQ(given->endpoint.url, "http://given:3");
  EXPECT_EQ(given->signer.access_key, "G");
}

TEST(ServiceSettings, SaysWhatIsMissing) {
  EXPECT_EQ(find_service(sources({}, {{"HOME", "/h"}})).error().code(), Errc::denied);
  EXPECT_EQ(find_service(sources({{"access_key", "G"}}, {})).error().code(), Errc::bad_request);
  EXPECT_FALSE(find_service(sources({{"endpoint", "ftp://x"}}, {})));
}

}  // namespace
}  // namespace leat::session
