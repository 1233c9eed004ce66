#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>

#include "base/check.h"
#include "base/result.h"
#include "base/strong.h"

namespace leat {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(Errc::bad_request, "odd");
  return n / 2;
}

Result<int> quarter(int n) {
  LEAT_TRY(const int first, half(n));
  LEAT_TRY(const int second, half(first));
  return second;
}

Status only_even(int n) {
  LEAT_DO(half(n));
  return {};
}

TEST(Result, TryHandsOverTheValueOrReturnsTheError) {
  EXPECT_EQ(quarter(12).value(), 3);
  const auto failed = quarter(6);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code(), Errc::bad_request);
  EXPECT_EQ(failed.error().detail(), "odd");
}

TEST(Result, DoReturnsTheErrorOfAStatus) {
  EXPECT_TRUE(only_even(2).has_value());
  EXPECT_EQ(only_even(3).error().message(), "bad_request: odd");
}

TEST(Error, FromErrnoNamesTheCallAndTheCause) {
  const Error error = Error::from_errno(ENOENT, "open /nowhere");
  EXPECT_EQ(error.code(), Errc::not_found);
  EXPECT_EQ(error.message(), "not_found: open /nowhere: No such file or directory");
}

TEST(Error, CloneKeepsCodeAndDetail) {
  const Error error(Errc::corrupt, "block 7");
  EXPECT_EQ(error.clone().message(), error.message());
  EXPECT_EQ(Error(Errc::busy).clone().message(), "busy");
}

TEST(Errc, EveryRowHasAnHttpStatusAndAnS3Code) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Errc::would_block); ++i) {
    const ErrcTraits& row = traits(static_cast<Errc>(i));
    EXPECT_GE(row.http_status, 400) << row.name;
    EXPECT_LT(row.http_status, 600) << row.name;
    EXPECT_FALSE(row.s3_code.empty()) << row.name;
    EXPECT_GT(row.posix_errno, 0) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
  }
}

TEST(Errc, AFullDiskIsNotAnIoError) {
  EXPECT_EQ(errc_from_errno(ENOSPC), Errc::no_space);
  EXPECT_EQ(errc_from_errno(EIO), Errc::io);
  EXPECT_EQ(errc_from_errno(EADDRINUSE), Errc::conflict);
}

TEST(Check, AFailedCheckEndsTheProcessAndSaysWhere) {
  EXPECT_DEATH(LEAT_CHECK(1 + 1 == 3), "base_test.cc.*1 \\+ 1 == 3");
}

TEST(Strong, OrdersAndComparesByValue) {
  using Id = Strong<int, struct IdTag>;
  EXPECT_LT(Id(1), Id(2));
  EXPECT_EQ(Id(3).value(), 3);
}

}  // namespace
}  // namespace leat
