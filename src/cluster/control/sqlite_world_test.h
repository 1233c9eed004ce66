// SqliteWorld: a SqliteStore in a real folder, on a simulated clock, driven by hand. The pool has
// no threads, so that every step has its order.
#pragma once

#include <memory>
#include <string>

#include "control/conformance_test.h"
#include "control/sqlite_store.h"
#include "sim/world.h"
#include "support/temp_folder.h"

namespace leat::control {

class SqliteWorld final : public Backend {
 public:
  static constexpr std::int64_t kRevisionsKept = 300;

  explicit SqliteWorld(SqliteOptions options = {.history = {.revisions_max = kRevisionsKept}})
      : options_(options) {}
  SqliteWorld(const SqliteWorld&) = delete;
  SqliteWorld& operator=(const SqliteWorld&) = delete;
  ~SqliteWorld() override { close(); }

  Status open() {
    SqliteTools tools{
        .shard = world_.shard(), .pool = pool_, .disk = disk_, .clock = world_.clock("node")};
    LEAT_TRY(store_, SqliteStore::open(tools, folder_.path(), options_));
    return {};
  }

  void close() {
    if (!store_) return;
    EXPECT_TRUE(world_.run(store_->stop()));
    store_.reset();
  }

  SqliteStore& store() override {
    if (!store_) {
      const Status opened = open();
      EXPECT_TRUE(opened.has_value()) << opened.error().message();
    }
    return *store_;
  }

  void spawn(rt::Task<void> task) override {
    world_.spawn(std::move(task), [](const Status& status) {
      EXPECT_TRUE(status.has_value()) << status.error().message();
    });
  }
  bool run_until(const std::function<bool()>& done) override { return world_.run_until(done); }
  void pass(Duration time) override { world_.run_for(time); }

  void compact() override {
    for (std::int64_t i = 0; i <= kRevisionsKept; ++i) {
      Txn txn;
      txn.then.push_back(put_operation("filler", std::to_string(i)));
      EXPECT_TRUE(world_.run(store().attempt(std::move(txn), std::chrono::seconds(1))));
    }
  }

  std::string path() const { return folder_.path("control.db"); }
  testing::TempFolder& folder() { return folder_; }
  sim::SimWorld& world() { return world_; }
  SqliteOptions& options() { return options_; }

 private:
  SqliteOptions options_;
  testing::TempFolder folder_;
  sim::SimWorld world_{1};
  io::PosixDisk disk_;
  rt::BlockingPool pool_{"sim", 0, 16};
  std::unique_ptr<SqliteStore> store_;
};

}  // namespace leat::control
