#include <gtest/gtest.h>

#include "io/stream.h"

namespace leat::io {
namespace {

TEST(Address, ParsesNamesAndBothKindsOfNumbers) {
  EXPECT_EQ(Address::parse("127.0.0.1:9000").value(), (Address{"127.0.0.1", 9000}));
  EXPECT_EQ(Address::parse("node-1.local:0").value(), (Address{"node-1.local", 0}));
  EXPECT_EQ(Address::parse("[::1]:65535").value(), (Address{"::1", 65535}));
  EXPECT_EQ(Address::parse("[fe80::1%eth0]:80").value(), (Address{"fe80::1%eth0", 80}));
}

TEST(Address, PrintsWhatItParses) {
  for (const char* text : {"127.0.0.1:9000", "[::1]:9000", "localhost:1"}) {
    EXPECT_EQ(Address::parse(text).value().to_string(), text);
  }
}

TEST(Address, RefusesWhatIsNotAHostAndAPort) {
  for (const char* text : {"", "host", ":9000", "host:", "host:65536", "host:-1", "host:+1",
                           "host:9 ", "host: 9", "::1:9000", "[::1]", "[::1]9000", "[host]:9",
                           "[]:9", "[::1:9000", "ho st:9", "ho\nst:9", "user@host:9", "a/b:9"}) {
    const Result<Address> parsed = Address::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code(), Errc::bad_request) << text;
    EXPECT_NE(parsed.error().detail().find(text), std::string_view::npos) << text;
  }
}

TEST(Address, KnowsLoopbackInAllItsForms) {
  for (const char* host : {"127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1",
                           "::ffff:7f00:1"}) {
    EXPECT_TRUE((Address{host, 1}.is_loopback())) << host;
  }
  for (const char* host : {"0.0.0.0", "128.0.0.1", "::", "::ffff:10.0.0.1", "::127.0.0.1",
                           "localhost", "127.0.0.1.example.org", ""}) {
    EXPECT_FALSE((Address{host, 1}.is_loopback())) << host;
  }
}

}  // namespace
}  // namespace leat::io
