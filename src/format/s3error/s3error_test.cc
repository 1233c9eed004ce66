#include "s3error/s3error.h"

#include <gtest/gtest.h>

#include <set>

namespace leat::s3error {
namespace {

TEST(S3Error, EveryCodeHasItsOwnNameAndAStatusOfAnError) {
  std::set<std::string_view> names;
#define LEAT_X(name, status, text)                \
  EXPECT_TRUE(names.insert(text).second) << text; \
  EXPECT_EQ(text_of(S3Code::name), text);         \
  EXPECT_EQ(http_status(S3Code::name), status);   \
  EXPECT_TRUE(status >= 400 && status <= 507) << text;
  LEAT_S3_CODES(LEAT_X)
#undef LEAT_X
}

// Errc's table names a code of S3 in each row; none of them may be unknown here.
TEST(S3Error, EveryErrcHasItsCodeHere){
#define LEAT_X(name, http, s3, err, retry) \
  EXPECT_EQ(text_of(from_error(Error(Errc::name)).code), std::string_view(s3)) << #name;
    LEAT_ERRC_TABLE(LEAT_X)
#undef LEAT_X
}

S3Result<int> half_of(int number) {
  if (number % 2 != 0) return refuse(S3Code::invalid_argument, "odd");
  return number / 2;
}
S3Result<int> quarter_of(int number) {
  LEAT_TRY(const int half, half_of(number));
  return half_of(half);
}

TEST(S3Error, LeavesAFunctionLikeAnyOtherError) {
  EXPECT_EQ(quarter_of(8).value(), 2);
  EXPECT_EQ(quarter_of(6).error().code, S3Code::invalid_argument);
  EXPECT_EQ(quarter_of(6).error().message, "odd");
}

}  // namespace
}  // namespace leat::s3error
