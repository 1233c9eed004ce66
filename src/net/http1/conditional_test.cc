#include "http1/conditional.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "http1/date.h"
#include "http1/request_head.h"

namespace leat::http1 {
namespace {

constexpr std::string_view kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr std::string_view kSame = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kAfter = "Sun, 06 Nov 1994 08:49:38 GMT";

Selected object(std::string_view etag = "\"5d41\"") {
  // Half a second later than what its Last-Modified says, as stored times are.
  return {.exists = true,
          .etag = etag,
          .last_modified = *parse_date(kSame) + std::chrono::milliseconds(500)};
}

Verdict if_match(std::string_view list, const Selected& selected) {
  Conditions conditions;
  conditions.if_match = list;
  return evaluate(conditions, selected, Method::get);
}

Verdict if_none_match(std::string_view list, const Selected& selected, Method method) {
  Conditions conditions;
  conditions.if_none_match = list;
  return evaluate(conditions, selected, method);
}

TEST(Conditional, NoConditionProceeds) {
  EXPECT_EQ(evaluate({}, object(), Method::get), Verdict::proceed);
  EXPECT_EQ(evaluate({}, Selected{}, Method::put), Verdict::proceed);
}

TEST(Conditional, IfMatchComparesStronglyQuotedOrBare) {
  for (const std::string_view list :
       {"\"5d41\"", "5d41", "*", " * ", "\"x\", \"5d41\"", "x,5d41", "x , 5d41 ", ",,\"5d41\"",
        "\"a,b\", \"5d41\"", "\"unended\",\"5d41"}) {
    EXPECT_EQ(if_match(list, object()), Verdict::proceed) << list;
  }
  for (const std::string_view list :
       {"", "\"5d4\"", "\"5d411\"", "W/\"5d41\"", "\"x\"", "\"*\"", "5D41", "\"x,5d41\"", "\"\""}) {
    EXPECT_EQ(if_match(list, object()), Verdict::precondition_failed) << list;
  }
  EXPECT_EQ(if_match("5d41", object("5d41")), Verdict::proceed);
  EXPECT_EQ(if_match("\"a,b\"", object("\"a,b\"")), Verdict::proceed);
  EXPECT_EQ(if_match("\"5d41\"", object("W/\"5d41\"")), Verdict::precondition_failed);
}

TEST(Conditional, IfMatchFailsWhereNothingIs) {
  EXPECT_EQ(if_match("*", Selected{}), Verdict::precondition_failed);
  EXPECT_EQ(if_match("\"\"", Selected{}), Verdict::precondition_failed);
}

TEST(Conditional, IfNoneMatchComparesWeakly) {
  for (const std::string_view list : {"\"5d41\"", "5d41", "W/\"5d41\"", "*", "\"x\",W/\"5d41\""}) {
    EXPECT_EQ(if_none_match(list, object(), Method::get), Verdict::not_modified) << list;
    EXPECT_EQ(if_none_match(list, object(), Method::head), Verdict::not_modified) << list;
    EXPECT_EQ(if_none_match(list, object(), Method::put), Verdict::precondition_failed) << list;
  }
  EXPECT_EQ(if_none_match("\"x\"", object(), Method::get), Verdict::proceed);
}

TEST(Conditional, IfNoneMatchStarCreatesOnlyWhatIsNotThere) {
  EXPECT_EQ(if_none_match("*", Selected{}, Method::put), Verdict::proceed);
  EXPECT_EQ(if_none_match("*", object(), Method::put), Verdict::precondition_failed);
}

TEST(Conditional, IfModifiedSinceComparesWholeSecondsAndCountsForReadsAlone) {
  const auto verdict = [](std::string_view date, Method method) {
    Conditions conditions;
    conditions.if_modified_since = date;
    return evaluate(conditions, object(), method);
  };
  EXPECT_EQ(verdict(kBefore, Method::get), Verdict::proceed);
  EXPECT_EQ(verdict(kSame, Method::get), Verdict::not_modified);
  EXPECT_EQ(verdict(kAfter, Method::head), Verdict::not_modified);
  EXPECT_EQ(verdict(kAfter, Method::put), Verdict::proceed);
  EXPECT_EQ(verdict("yesterday", Method::get), Verdict::proceed);
}

TEST(Conditional, IfUnmodifiedSinceFailsOnNewerObjects) {
  const auto verdict = [](std::string_view date, const Selected& selected) {
    Conditions conditions;
    conditions.if_unmodified_since = date;
    return evaluate(conditions, selected, Method::put);
  };
  EXPECT_EQ(verdict(kBefore, object()), Verdict::precondition_failed);
  EXPECT_EQ(verdict(kSame, object()), Verdict::proceed);
  EXPECT_EQ(verdict(kAfter, object()), Verdict::proceed);
  EXPECT_EQ(verdict("yesterday", object()), Verdict::proceed);
  EXPECT_EQ(verdict(kBefore, Selected{}), Verdict::proceed);
}

TEST(Conditional, TagsTakePrecedenceOverDates) {
  Conditions conditions;
  conditions.if_match = "\"5d41\"";
  conditions.if_unmodified_since = kBefore;
  EXPECT_EQ(evaluate(conditions, object(), Method::get), Verdict::proceed);
  conditions = {};
  conditions.if_none_match = "\"x\"";
  conditions.if_modified_since = kAfter;
  EXPECT_EQ(evaluate(conditions, object(), Method::get), Verdict::proceed);
  conditions.if_none_match = "\"5d41\"";
  conditions.if_modified_since = kBefore;
  EXPECT_EQ(evaluate(conditions, object(), Method::get), Verdict::not_modified);
}

TEST(Conditional, PreconditionsComeBeforeNotModified) {
  Conditions conditions;
  conditions.if_match = "\"x\"";
  conditions.if_none_match = "\"5d41\"";
  EXPECT_EQ(evaluate(conditions, object(), Method::get), Verdict::precondition_failed);
}

TEST(Conditional, ReadsItsFieldsFromAHeadAndRefusesDoubles) {
  const auto parse = [](std::string_view text) {
    RequestParser parser;
    RequestHead head;
    EXPECT_EQ(parser.parse(text, head).value(), text.size());
    return conditions_of(head.headers);
  };
  const auto one = parse("GET / HTTP/1.1\r\nHost: a\r\nIf-Match: a\r\n\r\n");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->if_match, "a");
  EXPECT_EQ(one->if_none_match, std::nullopt);
  const auto two =
      parse("GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: a\r\nIf-None-Match: b\r\n\r\n");
  ASSERT_FALSE(two.has_value());
  EXPECT_EQ(two.error().code(), Errc::bad_request);
}

}  // namespace
}  // namespace leat::http1
