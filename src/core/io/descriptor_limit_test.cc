#include "io/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace leat::io {
namespace {

TEST(DescriptorLimit, IsRaisedToWhatTheOperatorAllows) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit kept = limit;
  limit.rlim_cur = limit.rlim_max / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const DescriptorLimit raised = raise_descriptor_limit();
  EXPECT_EQ(raised.before, kept.rlim_max / 2);
  EXPECT_EQ(raised.now, kept.rlim_max);
  EXPECT_EQ(descriptor_limit(), kept.rlim_max);
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, kept.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &kept), 0);
}

}  // namespace
}  // namespace leat::io
