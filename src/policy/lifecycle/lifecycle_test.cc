#include "lifecycle/lifecycle.h"

#include <gtest/gtest.h>

namespace leat::lifecycle {
namespace {

std::string document(const std::string& rules) {
  return "<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>";
}

std::string rule(const std::string& more,
                 const std::string& filter = "<Filter><Prefix>tmp/</Prefix></Filter>") {
  return "<Rule>" + filter + "<Status>Enabled</Status>" + more + "</Rule>";
}

const std::string kDays = "<Expiration><Days>3</Days></Expiration>";
const std::string kAbort =
    "<AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation>"
    "</AbortIncompleteMultipartUpload>";

std::vector<Rule> parsed(const std::string& text) {
  const auto rules = parse_lifecycle(text);
  EXPECT_TRUE(rules) << text << (rules ? "" : rules.error().message);
  return rules ? *rules : std::vector<Rule>();
}

std::string refusal(const std::string& rules) {
  const auto made = parse_lifecycle(document(rules));
  return made ? "taken" : std::string(s3error::text_of(made.error().code));
}

TEST(Lifecycle, IsWrittenAsItWasUnderstood) {
  const auto rules = parsed(document(
      rule("<ID>a</ID>" + kDays) + rule(kAbort, "<Prefix></Prefix>") +
      rule("<Expiration><Date>2027-01-01T00:00:00.000Z</Date></Expiration>",
           "<Filter><And><Prefix>x</Prefix><Tag><Key>k</Key><Value>&lt;</Value></Tag>"
           "<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>"
           "<ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter>") +
      rule("<NoncurrentVersionExpiration><NoncurrentDays>5</NoncurrentDays>"
           "<NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration>"
           "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>",
           "<Filter/>")));
  ASSERT_EQ(rules.size(), 4U);
  EXPECT_EQ(rules[0].id, "a");
  EXPECT_EQ(rules[1].id, "rule-1") << "a rule without a name gets one";
  EXPECT_EQ(rules[2].expire_at_ms, 1798761600000);
  EXPECT_FALSE(rules[2].is_about_versions());
  EXPECT_TRUE(rules[3].is_about_versions());
  EXPECT_EQ(rules[3].newer_noncurrent, 2U);
  EXPECT_EQ(parsed(write_lifecycle(rules)), rules);
}

TEST(Lifecycle, FallsDueAtTheMidnightBehindTheLastDay) {
  const auto rules = parsed(document(rule("<ID>a</ID>" + kDays)));
  const auto due = [&](std::int64_t modified_ms) {
    return expiry_of(rules, {.key = "tmp/a", .modified_ms = modified_ms}, kDayMs)->at_ms;
  };
  EXPECT_EQ(due(10 * kDayMs), 13 * kDayMs);
  EXPECT_EQ(due(10 * kDayMs + 1), 14 * kDayMs);
  EXPECT_EQ(due(11 * kDayMs - 1), 14 * kDayMs);
  EXPECT_EQ(expiry_of(rules, {.key = "tmp/a", .modified_ms = 5}, 10)->at_ms, 40) << "a short day";
  EXPECT_EQ(expiry_of(rules, {.key = "tmp/a"}, kDayMs)->rule, "a");
  EXPECT_FALSE(expiry_of(rules, {.key = "other"}, kDayMs));
}

TEST(Lifecycle, TheEarliestRuleInForceCounts) {
  auto rules =
      parsed(document(rule("<ID>late</ID><Expiration><Days>30</Days></Expiration>", "<Filter/>") +
                      rule("<ID>early</ID>" + kDays) +
                      rule("<ID>date</ID><Expiration><Date>1970-01-03</Date></Expiration>",
                           "<Filter><Prefix>tmp/d</Prefix></Filter>")));
  EXPECT_EQ(expiry_of(rules, {.key = "tmp/a"}, kDayMs)->rule, "early");
  EXPECT_EQ(expiry_of(rules, {.key = "x"}, kDayMs)->rule, "late");
  EXPECT_EQ(expiry_of(rules, {.key = "tmp/d"}, kDayMs)->at_ms, 2 * kDayMs);
  rules[1].is_enabled = false;
  EXPECT_EQ(expiry_of(rules, {.key = "tmp/a"}, kDayMs)->rule, "late");
  EXPECT_EQ(common_prefix(rules), "");
  rules.erase(rules.begin());
  EXPECT_EQ(common_prefix(rules), "tmp/d");
  rules[0].is_enabled = true;
  EXPECT_EQ(common_prefix(rules), "tmp/");
}

TEST(Lifecycle, AllCriteriaOfAFilterMustFit) {
  const auto rules =
      parsed(document(rule(kDays,
                           "<Filter><And><Prefix>p</Prefix><Tag><Key>a</Key><Value>1</Value></Tag>"
                           "<Tag><Key>b</Key><Value>2</Value></Tag>"
                           "<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>"
                           "<ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter>")));
  const std::vector<Tag> both = {{"b", "2"}, {"c", "3"}, {"a", "1"}};
  const std::vector<Tag> one = {{"a", "1"}, {"b", "3"}};
  const auto fits = [&](std::string_view key, std::uint64_t size, std::span<const Tag> tags) {
    return expiry_of(rules, {.key = key, .size_bytes = size, .tags = tags}, kDayMs).has_value();
  };
  EXPECT_TRUE(fits("p", 6, both));
  EXPECT_FALSE(fits("q", 6, both));
  EXPECT_FALSE(fits("p", 5, both));
  EXPECT_FALSE(fits("p", 9, both));
  EXPECT_FALSE(fits("p", 6, one));
}

TEST(Lifecycle, UploadsAreAbortedByTheirOwnRules) {
  const auto rules = parsed(document(rule(kAbort) + rule(kDays, "<Filter/>")));
  EXPECT_EQ(abort_of(rules, "tmp/a", 0, kDayMs)->at_ms, 2 * kDayMs);
  EXPECT_FALSE(abort_of(rules, "other", 0, kDayMs));
  EXPECT_TRUE(aborts_uploads(rules));
  EXPECT_FALSE(aborts_uploads(std::span(rules).subspan(1)));
  EXPECT_FALSE(expires_objects(std::span(rules).first(1)));
}

TEST(Lifecycle, RulesThatMakeNoSenseAreRefused) {
  EXPECT_EQ(refusal(""), "MalformedXML");
  EXPECT_EQ(refusal("<What/>"), "MalformedXML");
  EXPECT_EQ(refusal(rule("")), "InvalidRequest");
  EXPECT_EQ(refusal(rule(kDays, "")), "MalformedXML") << "neither Filter nor Prefix";
  EXPECT_EQ(refusal(rule(kDays, "<Filter/><Prefix>a</Prefix>")), "MalformedXML");
  EXPECT_EQ(refusal(rule(kDays + "<What/>")), "MalformedXML");
  EXPECT_EQ(refusal(rule(kDays + kDays)), "MalformedXML");
  EXPECT_EQ(refusal("<Rule><Filter/><Status>enabled</Status>" + kDays + "</Rule>"), "MalformedXML");
  EXPECT_EQ(refusal("<Rule><Filter/>" + kDays + "</Rule>"), "MalformedXML");
  EXPECT_EQ(refusal(rule("<ID>" + std::string(256, 'x') + "</ID>" + kDays)), "InvalidArgument");
  EXPECT_EQ(refusal(rule("<ID>a</ID>" + kDays) + rule("<ID>a</ID>" + kDays)), "InvalidArgument");
  const auto expiration = [](const std::string& inside) {
    return refusal(rule("<Expiration>" + inside + "</Expiration>"));
  };
  EXPECT_EQ(expiration(""), "MalformedXML");
  EXPECT_EQ(expiration("<Days>0</Days>"), "InvalidArgument");
  EXPECT_EQ(expiration("<Days>-1</Days>"), "InvalidArgument");
  EXPECT_EQ(expiration("<Days>99999999999</Days>"), "InvalidArgument");
  EXPECT_EQ(expiration("<Days>x</Days>"), "MalformedXML");
  EXPECT_EQ(expiration("<Days>1</Days><Date>2027-01-01</Date>"), "MalformedXML");
  EXPECT_EQ(expiration("<Date>2027-01-01T12:00:00Z</Date>"), "InvalidArgument");
  EXPECT_EQ(expiration("<Date>2027-02-30</Date>"), "MalformedXML");
  EXPECT_EQ(expiration("<Date>20200101</Date>"), "MalformedXML");
  EXPECT_EQ(expiration("<Date>soon</Date>"), "MalformedXML");
  EXPECT_EQ(refusal(rule("<Transition><Days>1</Days></Transition>")), "NotImplemented");
  const std::string tag = "<Tag><Key>a</Key><Value>1</Value></Tag>";
  EXPECT_EQ(refusal(rule(kAbort, "<Filter>" + tag + "</Filter>")), "InvalidRequest");
  EXPECT_EQ(refusal(rule(kDays, "<Filter>" + tag + "<Prefix>a</Prefix></Filter>")), "MalformedXML")
      << "several criteria without And";
  EXPECT_EQ(refusal(rule(kDays, "<Filter><And>" + tag + tag + "</And></Filter>")),
            "InvalidRequest");
  EXPECT_EQ(refusal(rule(kDays,
                         "<Filter><And><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>"
                         "<ObjectSizeLessThan>5</ObjectSizeLessThan></And></Filter>")),
            "InvalidRequest");
  std::string many;
  for (int i = 0; i < 1001; ++i)
    many += rule(kDays);
  EXPECT_EQ(refusal(many), "MalformedXML");
}

TEST(Lifecycle, AVersionGoesSoLongAfterItWasReplaced) {
  const Rule rule{.id = "old",
                  .is_enabled = true,
                  .filter = {.prefix = "a/"},
                  .noncurrent_days = 2,
                  .newer_noncurrent = 1};
  const std::vector<Rule> rules{rule};
  PastVersion version{.object = {.key = "a/k"}, .replaced_ms = 5 * kDayMs, .newer = 1};
  const auto due = expiry_of(rules, version, kDayMs);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->at_ms, 7 * kDayMs);
  EXPECT_EQ(due->rule, "old");
  version.newer = 0;
  EXPECT_FALSE(expiry_of(rules, version, kDayMs)) << "so many are kept all the same";
  version.newer = 1;
  version.object.key = "b/k";
  EXPECT_FALSE(expiry_of(rules, version, kDayMs));
  std::vector<Rule> off = rules;
  off[0].is_enabled = false;
  version.object.key = "a/k";
  EXPECT_FALSE(expiry_of(off, version, kDayMs));
}

TEST(Lifecycle, LonelyMarkersGoWhereARuleSaysSo) {
  const Rule rule{.is_enabled = true, .filter = {.prefix = "a/"}, .removes_lonely_markers = true};
  const std::vector<Rule> rules{rule};
  EXPECT_TRUE(removes_lonely_marker(rules, "a/k"));
  EXPECT_FALSE(removes_lonely_marker(rules, "b/k"));
}

}  // namespace
}  // namespace leat::lifecycle
