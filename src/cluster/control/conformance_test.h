// Conformance: what every backend of ControlStore must do, as one suite of tests.
//
// A backend derives from Backend and instantiates the suite (sqlite_store_test.cc does):
//   INSTANTIATE_TEST_SUITE_P(Sqlite, Conformance, ::testing::Values(make_sqlite_backend));
// The suite is extended, never forked. Lifetime: the store lives as long as its backend.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/control_store.h"

namespace leat::control {

// A store under test, empty at first, and the world it lives in.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual ControlStore& store() = 0;
  // Starts a task on the store's shard.
  virtual void spawn(rt::Task<void> task) = 0;
  // Lets tasks run until `done()`; false if they come to rest before.
  virtual bool run_until(const std::function<bool()>& done) = 0;
  // Lets this much of the store's own time go by.
  virtual void pass(Duration time) = 0;
  // Makes the store forget the history before its present revision.
  virtual void compact() = 0;
};

using MakeBackend = std::function<std::unique_ptr<Backend>()>;

template <class T>
rt::Task<void> keep(rt::Task<T> task, std::shared_ptr<std::optional<Result<T>>> to) {
  to->emplace(co_await std::move(task));
  co_return Status{};
}

// What a watch was told.
struct Seen {
  std::vector<Event> events{};
  Revision up_to{};
  std::optional<Errc> broken{};

  WatchSink sink();
  // "+key=value" and "-key", one after the other.
  std::string text() const;
};

class Conformance : public ::testing::TestWithParam<MakeBackend> {
 protected:
  void SetUp() override { backend_ = GetParam()(); }

  ControlStore& store() { return backend_->store(); }

  template <class T>
  Result<T> run(rt::Task<T> task) {
    auto result = std::make_shared<std::optional<Result<T>>>();
    backend_->spawn(keep<T>(std::move(task), result));
    if (!backend_->run_until([&] { return result->has_value(); })) {
      return fail(Errc::timeout, "the task did not end");
    }
    return std::move(**result);
  }

  // A transaction that must succeed; false in `held` is fine.
  TxnReply attempt(Txn txn);
  Errc refused(Txn txn);
  Revision put(std::string key, std::string value, LeaseId lease = {});
  void erase(std::string key);
  std::optional<KeyValue> get(std::string key);
  std::vector<std::string> keys(std::string prefix);
  Lease grant(Duration ttl);
  bool wait_for(const std::function<bool()>& done) { return backend_->run_until(done); }

  std::unique_ptr<Backend> backend_;
};

Operation put_operation(std::string key, std::string value, LeaseId lease = {});
Operation get_operation(std::string key);
Operation erase_operation(std::string key);
Condition number_condition(std::string key, Condition::Field field, Condition::Relation relation,
                           std::int64_t number);
Condition value_condition(std::string key, Condition::Relation relation, std::string bytes);

}  // namespace leat::control
