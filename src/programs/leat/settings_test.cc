#include "leat/settings.h"

#include <gtest/gtest.h>

namespace leat::programs {
namespace {

TEST(Settings, DefaultsListenOnLoopbackOnly) {
  const auto settings = load_settings({}, {});
  ASSERT_TRUE(settings.has_value()) << settings.error().message();
  const auto address = listen_address(*settings);
  ASSERT_TRUE(address.has_value());
  EXPECT_TRUE(address->is_loopback());
  EXPECT_EQ(settings->text("tls"), "off");
}

TEST(Settings, DefaultsOfTheTableAreTheDefaultsOfTheServer) {
  const auto settings = load_settings({}, {});
  ASSERT_TRUE(settings.has_value());
  const http::ServerOptions built_in;
  const http::ServerOptions loaded = server_options(*settings);
  EXPECT_EQ(loaded.head.head_max_bytes, built_in.head.head_max_bytes);
  EXPECT_EQ(loaded.head.target_max_bytes, built_in.head.target_max_bytes);
  EXPECT_EQ(loaded.head.fields_max, built_in.head.fields_max);
  EXPECT_EQ(loaded.connections_max, built_in.connections_max);
  EXPECT_EQ(loaded.idle_timeout, built_in.idle_timeout);
  EXPECT_EQ(loaded.head_timeout, built_in.head_timeout);
  EXPECT_EQ(loaded.body_grace, built_in.body_grace);
  EXPECT_EQ(loaded.body_rate_min_bytes, built_in.body_rate_min_bytes);
}

TEST(Settings, AFileThatIsNamedMustExist) {
  const auto settings = load_settings({}, {{"config", "/nowhere/leat.toml"}});
  ASSERT_FALSE(settings.has_value());
  EXPECT_EQ(settings.error().code(), Errc::not_found);
}

TEST(Settings, ABadAddressSaysWhichSettingIsWrong) {
  const auto settings = load_settings({}, {{"listen", "nonsense"}});
  ASSERT_TRUE(settings.has_value());
  const auto address = listen_address(*settings);
  ASSERT_FALSE(address.has_value());
  EXPECT_TRUE(address.error().detail().starts_with("listen: ")) << address.error().message();
}

}  // namespace
}  // namespace leat::programs
