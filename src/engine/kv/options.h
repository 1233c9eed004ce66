// RocksDB's options, all in one place: what Leat's contract asks for, and what a start must not
// cost.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>

#include <memory>

#include "kv/kv.h"

namespace leat::kv {

std::shared_ptr<rocksdb::Cache> make_cache(const KvOptions& options);

// Without environment and listeners, which belong to one map.
rocksdb::Options make_options(const KvOptions& options,
                              const std::shared_ptr<rocksdb::Cache>& cache);

}  // namespace leat::kv
