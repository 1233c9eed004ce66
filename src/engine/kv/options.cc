#include "kv/options.h"

#include <rocksdb/env.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdarg>

#include "base/bytes.h"

namespace leat::kv {
namespace {

// RocksDB's own log would be a file that nobody reads; its errors come back as values.
class SilentLog final : public rocksdb::Logger {
 public:
  SilentLog() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
  void LogHeader(const char*, va_list) override {}
};

std::shared_ptr<rocksdb::TableFactory> make_table_factory(
    const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 4 * kKiB;
  // A lookup finds its place in a block by a hash, not by halving.
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  // The kind of checksum is a number in a file's footer, which has no checksum itself. No single
  // flipped bit makes 3 a 0, which would be "none".
  table.checksum = rocksdb::kxxHash64;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // Indexes and filters count as cached blocks, so that memory has one bound, but stay as long as
  // their table is open: about 2 bytes an object, and each lookup is spared two in the cache.
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

void keep_contract(rocksdb::Options& options) {
  options.create_if_missing = true;
  options.paranoid_checks = true;
  // Only flush() makes things durable: not closing a map, and no retry behind the caller's back.
  options.avoid_flush_during_shutdown = true;
  options.max_bgerror_resume_count = 0;
  // A MANIFEST is never appended to but written anew for each change: see sealed_file.h.
  options.max_manifest_file_size = 1;
  options.fail_if_options_file_error = false;  // DiskFileSystem refuses it
  // For verify(): a table's blocks have checksums of their own, but its footer has none.
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
}

void run_little(rocksdb::Options& options) {
  options.info_log = std::make_shared<SilentLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.skip_stats_update_on_db_open = true;
  options.max_file_opening_threads = 1;
  options.max_background_jobs = 2;
  options.max_subcompactions = 1;
  options.ttl = 0;
  options.periodic_compaction_seconds = 0;
  options.db_host_id = "";
  // There is one writer.
  options.allow_concurrent_memtable_write = false;
  options.enable_write_thread_adaptive_yield = false;
}

}  // namespace

std::shared_ptr<rocksdb::Cache> make_cache(const KvOptions& options) {
  rocksdb::LRUCacheOptions cache;
  cache.capacity = options.cache_bytes;
  cache.num_shard_bits = options.quiet ? 0 : -1;
  cache.high_pri_pool_ratio = 0.3;
  return rocksdb::NewLRUCache(cache);
}

rocksdb::Options make_options(const KvOptions& wanted,
                              const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::Options options;
  keep_contract(options);
  run_little(options);
  options.table_factory = make_table_factory(cache);
  options.compression = rocksdb::kLZ4Compression;
  // All tables stay open: there are few, of 64 MiB each.
  options.max_open_files = -1;
  options.level_compaction_dynamic_level_bytes = true;
  // One table that takes changes and one that is being flushed.
  options.max_write_buffer_number = 2;
  options.write_buffer_size = wanted.memory_bytes / 2;
  if (wanted.quiet) {
    options.disable_auto_compactions = true;
    options.table_cache_numshardbits = 0;
    options.arena_block_size = 16 * kKiB;
    options.writable_file_max_buffer_size = 64 * kKiB;
  } else {
    options.compaction_readahead_size = kMiB;
    // Every put looks up a key that most of the time is new: a filter spares the walk through the
    // table that takes changes.
    options.memtable_prefix_bloom_size_ratio = 0.05;
    options.memtable_whole_key_filtering = true;
  }
  return options;
}

}  // namespace leat::kv
