#include "training/batch_request.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace leat::training {
namespace {

using shards::BatchItem;

std::string error_of(std::string_view text) {
  const auto parsed = parse_batch(text);
  return parsed ? "(good)" : std::string(parsed.error().detail());
}

TEST(BatchRequest, ItemsNameObjectsOnceAndShareTheirFields) {
  const auto parsed = parse_batch(R"({
    "object": "sets/a.tar", "fields": ["jpg"], "on_error": "skip", "format": "tar",
    "items": [{"sample": "1"}, {"sample": "2", "fields": ["cls"]},
              {"sample": "3", "fields": ["jpg"]}, {"member": "x/y.jpg"},
              {"object": "sets/b/c", "range": [5, 7]},
              {"object": "sets/a.tar", "sample": "4", "fields": []}]})");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->on_error, OnError::skip);
  EXPECT_EQ(parsed->format, Format::tar);
  const shards::BatchRequest& request = parsed->request;
  ASSERT_EQ(request.objects.size(), 2U);
  EXPECT_EQ(request.objects[1], (shards::ObjectName{.bucket = "sets", .key = "b/c"}));
  ASSERT_EQ(request.items.size(), 6U);
  EXPECT_EQ(request.items[0].what, BatchItem::What::sample);
  EXPECT_EQ(request.field_lists[request.items[0].fields], std::vector<std::string>{"jpg"});
  EXPECT_EQ(request.field_lists[request.items[1].fields], std::vector<std::string>{"cls"});
  EXPECT_EQ(request.items[2].fields, request.items[0].fields);
  EXPECT_EQ(request.items[3].name, "x/y.jpg");
  EXPECT_EQ(request.items[4].range->offset, 5U);
  EXPECT_EQ(request.items[4].object, 1U);
  EXPECT_TRUE(request.field_lists[request.items[5].fields].empty());
}

TEST(BatchRequest, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of("nonsense"), "the body is no JSON object");
  EXPECT_EQ(error_of("[]"), "the body is no JSON object");
  EXPECT_EQ(error_of("{}"), "\"items\" is missing or no list");
  EXPECT_EQ(error_of(R"({"items": {}})"), "\"items\" is missing or no list");
  EXPECT_EQ(error_of(R"({"itmes": []})"), "\"itmes\" is not known");
  EXPECT_EQ(error_of(R"({"items": [], "on_error": "ignore"})"),
            "\"on_error\" is \"fail\" or \"skip\"");
  EXPECT_EQ(error_of(R"({"items": [], "format": 3})"), "\"format\" is \"frames\" or \"tar\"");
  EXPECT_EQ(error_of(R"({"items": [{"object": "a/b"}, {}]})"),
            "item 1: \"object\" is missing: \"BUCKET/KEY\"");
  EXPECT_EQ(error_of(R"({"items": [{"object": "a"}]})"),
            "item 0: an object is named \"BUCKET/KEY\"");
  EXPECT_EQ(error_of(R"({"items": [{"object": "a/b", "member": "x", "sample": "y"}]})"),
            "item 0: both a member and a sample");
  EXPECT_EQ(error_of(R"({"items": [{"object": "a/b", "range": [1, -2]}]})"),
            "item 0: \"range\" is [offset, length]");
  EXPECT_EQ(error_of(R"({"items": [{"object": "a/b", "fields": ["x"]}]})"),
            "item 0: only a sample has fields");
  EXPECT_EQ(error_of(R"({"items": [{"object": "a/b", "sample": "x", "range": [0, 1]}]})"),
            "item 0: a sample has no range");
  EXPECT_EQ(error_of(R"({"items": ["x"]})"), "item 0: no JSON object");
}

TEST(BatchRequest, SamplesOfDatasetsAreLookedUpLater) {
  const auto parsed = parse_batch(R"({"dataset": "sets/train@7", "items": [
    {"sample": "a"}, {"row": 5, "fields": ["jpg"]}, {"dataset": "sets/val", "sample": "b"},
    {"object": "sets/x"}]})");
  ASSERT_TRUE(parsed) << parsed.error().detail();
  EXPECT_EQ(parsed->datasets.size(), 2U);
  ASSERT_EQ(parsed->of_datasets.size(), 3U);
  EXPECT_EQ(parsed->of_datasets[1].row, 5U);
  EXPECT_EQ(parsed->of_datasets[2].dataset, 1U);
  EXPECT_EQ(parsed->request.items[3].what, BatchItem::What::object);
  EXPECT_EQ(error_of(R"({"dataset": "sets/train", "items": [{}]})"),
            "item 0: of a dataset a \"sample\" or a \"row\" is wanted");
  EXPECT_EQ(error_of(R"({"dataset": "sets/train", "items": [{"row": 1, "sample": "x"}]})"),
            "item 0: a row is of a dataset, and instead of a name");
  EXPECT_EQ(error_of(R"({"items": [{"object": "a/b", "row": 1}]})"),
            "item 0: a row is of a dataset, and instead of a name");
  EXPECT_EQ(error_of(R"({"object": "b/k", "dataset": "b/d", "items": [{"row": 3}]})"),
            "both an \"object\" and a \"dataset\" for items that name none");
  EXPECT_EQ(error_of(R"({"object": "b/k", "items": [{"object": "b/k", "dataset": "b/d"}]})"),
            "item 0: both an object and a dataset");
  EXPECT_EQ(error_of(R"({"dataset": "sets", "items": []})"),
            "\"sets\": a dataset is named BUCKET/NAME");
}

TEST(BatchRequest, AListOfFieldsIsShortAndNamesEachOnce) {
  std::string names = R"("f0")";
  for (std::size_t i = 1; i < kFieldsMax; ++i)
    names += fmt::format(R"(,"f{}")", i);
  const std::string head = R"({"object": "a/b", "items": [{"sample": "x", "fields": [)";
  EXPECT_EQ(error_of(head + names + "]}]}"), "(good)");
  EXPECT_EQ(error_of(head + names + R"(,"g"]}]})"), "item 0: more than 64 fields");
  EXPECT_EQ(error_of(head + R"("a","b","a"]}]})"), "item 0: the field \"a\" twice");
  EXPECT_EQ(error_of(R"({"object": "a/b", "fields": ["a", "a"], "items": []})"),
            "the field \"a\" twice");
}

// Short texts become large trees.
TEST(BatchRequest, IsMeasuredBeforeItIsRead) {
  std::string text = R"({"items": [)";
  for (std::size_t i = 0; i < kValuesMax; ++i)
    text += "[],";
  EXPECT_EQ(error_of(text), "the body has more than 1000000 values");
  EXPECT_EQ(error_of(std::string(100'000, '[')), "the body is nested too deep");
  const std::string odd(2'000'000, ',');
  EXPECT_EQ(error_of(R"({"items": [{"object": "a/\\\"[[)" + odd + R"("}]})"), "(good)");
}

TEST(BatchRequest, HasABound) {
  std::string text = R"({"object": "a/b", "items": [{})";
  for (std::size_t i = 1; i < kItemsMax; ++i)
    text += ",{}";
  EXPECT_EQ(error_of(text + "]}"), "(good)");
  EXPECT_EQ(error_of(text + ",{}]}"), "100001 items are too many: 100000 at most");
}

}  // namespace
}  // namespace leat::training
