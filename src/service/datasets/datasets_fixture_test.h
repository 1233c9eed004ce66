// A node in memory with a control store on a disk, and a dataset sets/train without a version.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/sqlite_store.h"
#include "datasets/datasets.h"
#include "io/disk.h"
#include "log/sink.h"
#include "support/store_world.h"
#include "support/tar_maker.h"
#include "support/temp_folder.h"

namespace leat::datasets {

class NullSink final : public log::Sink {
 public:
  Status write(std::string_view /*lines*/) override { return {}; }
};

class DatasetsTest : public ::testing::Test {
 protected:
  DatasetsTest() {
    EXPECT_TRUE(rig_.open());
    bucket_ = rig_.make_bucket("sets");
    indexes_.emplace(rig_.store(), 1 * kMiB);
    datasets_.emplace(
        Datasets::Parts{.store = rig_.store(), .indexes = *indexes_, .control = desk_});
    EXPECT_TRUE(rig_.run(datasets_->create(name_)));
  }
  ~DatasetsTest() override { EXPECT_TRUE(rig_.run(control_->stop())); }

  // A shard of samples "PREFIX0", "PREFIX1", …
  std::string put_shard(const std::string& key, const std::string& prefix, int samples) {
    std::vector<std::pair<std::string, std::string>> members;
    for (int i = 0; i < samples; ++i) {
      members.emplace_back(fmt::format("{}{}.cls", prefix, i), std::to_string(i));
      members.emplace_back(fmt::format("{}{}.jpg", prefix, i), std::string(100, 'j'));
    }
    const std::string full = "train/" + key;
    EXPECT_TRUE(rig_.put({.bucket = bucket_, .key = full}, test::tar_of(members)));
    return full;
  }

  Result<Opened> commit(Commit one) {
    one.dataset = name_;
    std::vector<Commit> commits;
    commits.push_back(std::move(one));
    auto done = rig_.run(datasets_->commit(std::move(commits)));
    if (!done) return fail(done.error());
    return done->front();
  }
  Result<Opened> open(const std::string& which = "") {
    return rig_.run(datasets_->open(*parse_reference("sets/train" + which)));
  }
  std::vector<std::string> keys(const std::string& which = "") {
    const auto opened = open(which);
    if (!opened) return {"error: " + std::string(opened.error().detail())};
    const auto loaded = rig_.run(datasets_->snapshot(*opened));
    if (!loaded) return {"error: " + std::string(loaded.error().detail())};
    std::vector<std::string> all;
    EXPECT_TRUE((*loaded)->view().for_each("", "", [&](std::string_view key, snapshot::Row) {
      all.emplace_back(key);
      return true;
    }));
    return all;
  }
  std::size_t objects_below(const std::string& prefix) {
    index::ListRequest request{.bucket = bucket_, .prefix = prefix, .max = 1000};
    return rig_.run(rig_.store().list(request))->items.size();
  }
  Errc error_of(const auto& result) { return result ? Errc::internal : result.error().code(); }
  using Keys = std::vector<std::string>;

  sim::SimWorld world_{1};
  NullSink sink_;
  log::Logger logger_{sink_, world_.clock("log")};
  test::StoreWorld rig_{world_, logger_, 2};
  const testing::TempFolder folder_;
  io::PosixDisk disk_;
  rt::BlockingPool pool_{"sim", 0, 16};
  io::SeededRng rng_{3};
  std::unique_ptr<control::SqliteStore> control_ =
      control::SqliteStore::open(
          {.shard = world_.shard(), .pool = pool_, .disk = disk_, .clock = world_.clock("node")},
          folder_.path(), {})
          .value();
  control::ControlClient client_{*control_, world_.clock("node"), rng_, "node"};
  ControlDesk desk_{world_.shard(), client_};
  std::optional<shards::ShardIndexes> indexes_;
  std::optional<Datasets> datasets_;
  record::BucketId bucket_{};
  const DatasetName name_{.bucket = "sets", .name = "train"};
};

}  // namespace leat::datasets
