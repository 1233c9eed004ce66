#include "keys/key_store.h"

#include <gtest/gtest.h>

#include "sim/world.h"

namespace leat::keys {
namespace {

class KeyStoreTest : public ::testing::Test {
 protected:
  KeyStoreTest() { EXPECT_TRUE(disk_.make_directories("/node")); }

  std::unique_ptr<KeyStore> open() {
    auto store = std::make_unique<KeyStore>(disk_, rng_, "/node/keys.json");
    auto first = store->open(1000);
    EXPECT_TRUE(first.has_value()) << first.error().message();
    if (first) first_ = *first;
    store->add(world_.shard(), pool_);
    return store;
  }

  sim::SimWorld world_{1};
  sim::SimDisk& disk_ = world_.disk("node");
  io::SeededRng rng_{1};
  rt::BlockingPool pool_{"sim", 0, 16};
  std::shared_ptr<const Key> first_;
};

// Abuse case 51.
TEST_F(KeyStoreTest, TheFirstStartMakesOneKeyAndTheNextOnesFindIt) {
  const auto made = open();
  ASSERT_NE(first_, nullptr);
  for (const Right right : kRights)
    EXPECT_TRUE(allows(*first_, right, "any", "key"));
  const std::string id = first_->id;
  const std::string secret = first_->secret;
  EXPECT_EQ(secret.size(), 40U);
  first_.reset();
  const auto again = open();
  EXPECT_EQ(first_, nullptr) << "a key is shown once";
  const auto key = again->on(world_.shard()).table()->find(id);
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->secret, secret);
  EXPECT_EQ(again->on(world_.shard()).table()->seal(), made->on(world_.shard()).table()->seal());
}

TEST_F(KeyStoreTest, AKeyIsGoodWhenItIsMadeAndNoMoreWhenItIsRevoked) {
  const auto store = open();
  const ShardKeys& here = store->on(world_.shard());
  NewKey wanted{.name = "alice", .rules = {{.bucket = "b", .rights = {Right::read}}}};
  const auto made = world_.run(store->create(wanted, world_.shard()));
  ASSERT_TRUE(made.has_value()) << made.error().message();
  ASSERT_NE(here.table()->find(made->id), nullptr);
  EXPECT_EQ(here.table()->all().size(), 2U);
  ASSERT_TRUE(world_.run(store->revoke(made->id, world_.shard())));
  EXPECT_EQ(here.table()->find(made->id), nullptr);
  const auto again = world_.run(store->revoke(made->id, world_.shard()));
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code(), Errc::not_found);
  const auto reopened = open();
  EXPECT_EQ(reopened->on(world_.shard()).table()->find(made->id), nullptr);
  EXPECT_EQ(reopened->on(world_.shard()).table()->all().size(), 1U);
}

TEST_F(KeyStoreTest, AFileThatCannotBeReadIsNotReplaced) {
  ASSERT_TRUE(io::replace_text(disk_, "/node/keys.json", "{\"version\": 1"));
  KeyStore store(disk_, rng_, "/node/keys.json");
  const auto opened = store.open(0);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), Errc::corrupt);
  EXPECT_EQ(io::read_text(disk_, "/node/keys.json").value(), "{\"version\": 1");
}

}  // namespace
}  // namespace leat::keys
