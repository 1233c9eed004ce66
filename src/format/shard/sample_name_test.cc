#include "shard/sample_name.h"

#include <gtest/gtest.h>

namespace leat::shard {
namespace {

struct Row {
  std::string_view name;
  std::string_view key;
  std::string_view field;
};

// What webdataset 1.0.2 does; tests/integration/test_tar_oracles.py asks it about more.
constexpr Row kTaken[] = {
    {"d.v1/a.b.jpg", "d.v1/a", "b.jpg"},
    {"d/.hidden.jpg", "d/", "hidden.jpg"},
    {"a..jpg", "a", ".jpg"},
    {"./a.jpg", "./a", "jpg"},
    {"A.JPG", "A", "jpg"},
    {"a.", "a", ""},
    {"/.x", "/", "x"},
    {"a//.x", "a//", "x"},
    {"a/b/.x.y", "a/b/", "x.y"},
    {"__x/a.jpg", "__x/a", "jpg"},
    {"d/__x__/a.jpg", "d/__x__/a", "jpg"},
    {"__.jpg", "__", "jpg"},
    {"___/a.jpg", "___/a", "jpg"},
    {"__a__.jpg", "__a__", "jpg"},
    {"a\nb/c.jpg", "a\nb/c", "jpg"},
    {"a/b\nc/d.jpg", "a/b\nc/d", "jpg"},
    {"a.b/c\nd.jpg", "a.b/c\nd", "jpg"},
    {"a.jpg\n", "a", "jpg\n"},
    {"\xFF.\xC3\x89", "\xFF", "\xC3\x89"},
};

TEST(SampleName, KeyEndsAtTheFirstDotOfTheLastComponent) {
  for (const Row& row : kTaken) {
    const auto split = split_name(row.name);
    ASSERT_TRUE(split) << row.name;
    EXPECT_EQ(split->key, row.key) << row.name;
    EXPECT_EQ(split->field, row.field) << row.name;
  }
}

TEST(SampleName, WhatWebDatasetPassesOverIsNoSample) {
  for (const std::string_view name :
       {"d.v1/a", "a", "", ".", ".hidden.jpg", "d.x/.h.jpg", "__x__/a.jpg", "__x__", "____/a.jpg",
        "__leat__/index", "__a.b__", "__a.b__\n", "a.b/", "a.b\nc/d.jpg", "../.x"}) {
    EXPECT_FALSE(split_name(name)) << name;
  }
}

}  // namespace
}  // namespace leat::shard
