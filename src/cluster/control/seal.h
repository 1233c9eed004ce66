// Seals: the CRC32C that stands beside each row of control.db, because SQLite's pages have none.
//
// A seal covers every column of its row and begins with the table's name, so that a flipped bit, a
// row in the wrong table or another row's value does not pass. Format: docs/formats/control_db.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "control/control_store.h"

namespace leat::control {

// The one row of `state`.
struct State {
  Revision revision{};       // the last one that was taken
  Revision compacted{};      // history begins behind it
  std::int64_t leases = 0;   // given so far; the last one's number
  std::int64_t rows = 0;     // in `kv` and `lease` together
  std::int64_t sum = 0;      // of their seals, modulo 2^64: a row that vanished is missed
  std::int64_t history = 0;  // bytes, as history_cost() counts
  friend bool operator==(const State&, const State&) = default;
};

// A row of `history`: the `place`th change of its revision, with `left` more behind it.
struct Change {
  Event event{};
  std::int64_t place = 0;
  std::int64_t left = 0;
};

std::int64_t seal_of(const State& state);
std::int64_t seal_of(const KeyValue& entry);
std::int64_t seal_of(const Change& change);
std::int64_t seal_of(LeaseId lease, std::int64_t ttl_s);

}  // namespace leat::control
