#include "control/tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace leat::control {
namespace {

std::string rows_of(const Database& database, std::string_view sql, int columns) {
  std::string text;
  auto row = database.prepare(sql);
  EXPECT_TRUE(row.has_value()) << row.error().message();
  while (row && row->step().value_or(false)) {
    for (int column = 0; column < columns; ++column)
      text += row->bytes(column) + (column + 1 < columns ? " " : "\n");
  }
  return text;
}

// The example of docs/formats/control_db.md. If this fails the format has changed: a new schema.
TEST(Tables, TheExampleOfTheFormatPageIsWhatIsWritten) {
  const testing::TempFolder folder;
  folder.write("control.db", "");
  auto tables = Tables::open(folder.path("control.db"), {});
  ASSERT_TRUE(tables.has_value()) << tables.error().message();
  const auto lease = (*tables)->add_lease(std::chrono::seconds(30));
  Txn first;
  first.then.push_back({.kind = Operation::Kind::put, .key = "map/current", .value = "epoch 1"});
  ASSERT_TRUE((*tables)->apply(first));
  Txn second;
  second.then.push_back({.kind = Operation::Kind::put, .key = "map/current", .value = "epoch 2"});
  second.then.push_back(
      {.kind = Operation::Kind::put, .key = "pin/birds/7/job-1", .lease = *lease});
  ASSERT_TRUE((*tables)->apply(second));
  tables->reset();

  const auto database = Database::open(folder.path("control.db"));
  EXPECT_EQ(database->number("PRAGMA application_id").value(), 1281712500);
  EXPECT_EQ(database->number("PRAGMA user_version").value(), 1);
  EXPECT_EQ(rows_of(*database,
                    "SELECT revision, compacted, leases, rows, sum, history, seal FROM state", 7),
            "2 0 1 3 2588010103 245 3650542112\n");
  EXPECT_EQ(rows_of(*database, "SELECT k, created, modified, version, lease, seal, v FROM kv", 7),
            "map/current 1 2 2 0 637690726 epoch 2\n"
            "pin/birds/7/job-1 2 2 1 1 1257856935 \n");
  EXPECT_EQ(rows_of(*database,
                    "SELECT modified, place, left, erased, k, created, version, lease, seal, v"
                    " FROM history",
                    10),
            "1 0 0 0 map/current 1 1 0 2517389929 epoch 1\n"
            "2 0 1 0 map/current 1 2 0 329041511 epoch 2\n"
            "2 1 0 0 pin/birds/7/job-1 2 1 1 2701817903 \n");
  EXPECT_EQ(rows_of(*database, "SELECT id, ttl_s, seal FROM lease", 3), "1 30 692462442\n");
}

}  // namespace
}  // namespace leat::control
