#include "kv/kv.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kv/disk_env.h"
#include "kv/disk_file_system.h"
#include "kv/failure.h"
#include "kv/options.h"
#include "kv/sealed_file.h"
#include "kv/status.h"

namespace leat::kv {
namespace {

rocksdb::Slice to_slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::string_view to_view(const rocksdb::Slice& bytes) {
  return {bytes.data(), bytes.size()};
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Makes the folder, and the names of all folders on the way durable: also of those that are there
// already, for an earlier open may have made them and failed to sync them. What may not be read was
// not made by us.
Status make_folder(io::Disk& disk, const std::string& folder) {
  LEAT_DO(disk.make_directories(folder));
  for (std::string at = folder; at != "." && at != "/"; at = parent_of(at)) {
    Status synced = disk.sync_directory(parent_of(at));
    if (!synced && synced.error().code() == Errc::denied) return {};
    if (!synced) return synced;
  }
  return {};
}

// RocksDB takes a folder without CURRENT for a new one, and would remove the data it finds there.
Status prepare_folder(io::Disk& disk, const std::string& folder) {
  const auto names = disk.list(folder);
  if (!names && names.error().code() != Errc::not_found) return fail(names.error().clone());
  if (!names) return make_folder(disk, folder);
  if (std::ranges::find(*names, "CURRENT") != names->end()) return {};
  const auto is_table = [](const std::string& name) { return name.ends_with(".sst"); };
  if (std::ranges::any_of(*names, is_table)) {
    return fail(Errc::corrupt, folder + "/CURRENT: is missing");
  }
  return make_folder(disk, folder);
}

// The small files that a running map does not read again. A merge may replace them meanwhile.
Status verify_sealed(io::Disk& disk, const std::string& folder) {
  for (std::string seen;;) {
    LEAT_TRY(std::string name, read_sealed(disk, folder + "/CURRENT"));
    const auto manifest = read_sealed(disk, folder + "/" + name.substr(0, name.find('\n')));
    if (manifest) return {};
    const bool was_replaced = manifest.error().code() == Errc::not_found && name != seen;
    if (!was_replaced) return fail(manifest.error().clone());
    seen = std::move(name);
  }
}

}  // namespace

struct Batch::Changes {
  rocksdb::WriteBatch batch;
};

Batch::Batch() : changes_(std::make_unique<Changes>()) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

// Neither fails: the batch has no limit and the keys no timestamps.
void Batch::put(std::string_view key, std::string_view value) {
  changes_->batch.Put(to_slice(key), to_slice(value)).PermitUncheckedError();
}
void Batch::erase(std::string_view key) {
  changes_->batch.Delete(to_slice(key)).PermitUncheckedError();
}
void Batch::clear() {
  changes_->batch.Clear();
}
bool Batch::is_empty() const {
  return changes_->batch.Count() == 0;
}
std::size_t Batch::size_bytes() const {
  return changes_->batch.GetDataSize();
}

struct Cursor::Position {
  std::unique_ptr<rocksdb::Iterator> iterator;
};

Cursor::Cursor(std::unique_ptr<Position> position) : position_(std::move(position)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

void Cursor::seek(std::string_view key) {
  position_->iterator->Seek(to_slice(key));
}
void Cursor::seek_back(std::string_view key) {
  position_->iterator->SeekForPrev(to_slice(key));
}
void Cursor::next() {
  position_->iterator->Next();
}
void Cursor::previous() {
  position_->iterator->Prev();
}
bool Cursor::is_valid() const {
  return position_->iterator->Valid();
}
std::string_view Cursor::key() const {
  return to_view(position_->iterator->key());
}
std::string_view Cursor::value() const {
  return to_view(position_->iterator->value());
}
Status Cursor::status() const {
  return to_status(position_->iterator->status());
}

struct Kv::Engine {
  Engine(io::Disk& disk_in, std::string folder_in, const KvOptions& options);

  Status open(const KvOptions& options);
  Result<std::optional<std::string>> get(std::string_view key, rocksdb::ReadTier tier) const;
  Status check(const rocksdb::Status& done);
  Status merge_all();
  std::uint64_t number(const rocksdb::Slice& property) const;

  io::Disk& disk;
  const std::string folder;
  const bool quiet;
  std::shared_ptr<rocksdb::Cache> cache;
  std::shared_ptr<Failure> failure = std::make_shared<Failure>();
  std::unique_ptr<DiskEnv> env;
  std::unique_ptr<rocksdb::DB> db;  // last, because it uses all the others until it is gone
};

Kv::Engine::Engine(io::Disk& disk_in, std::string folder_in, const KvOptions& options)
    : disk(disk_in),
      folder(std::move(folder_in)),
      quiet(options.quiet),
      cache(make_cache(options)) {
  const auto files = std::make_shared<DiskFileSystem>(disk, failure);
  if (quiet) {
    env = std::make_unique<QuietEnv>(files);
  } else {
    env = std::make_unique<ThreadedEnv>(files);
  }
}

Status Kv::Engine::open(const KvOptions& options) {
  LEAT_DO(prepare_folder(disk, folder));
  rocksdb::Options settings = make_options(options, cache);
  settings.env = env.get();
  settings.listeners.push_back(failure);
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status done = rocksdb::DB::Open(settings, folder, &opened);
  db.reset(opened);
  env->run_jobs();
  return check(done);
}

Result<std::optional<std::string>> Kv::Engine::get(std::string_view key,
                                                   rocksdb::ReadTier tier) const {
  rocksdb::ReadOptions options;
  options.read_tier = tier;
  rocksdb::PinnableSlice value;
  const rocksdb::Status found = db->Get(options, db->DefaultColumnFamily(), to_slice(key), &value);
  if (found.ok()) return std::optional<std::string>(std::in_place, value.data(), value.size());
  if (found.IsNotFound()) return std::optional<std::string>();
  return fail(to_error(found));
}

// What a call that changes the map returns. A failure of it, or of the jobs it caused, stays.
Status Kv::Engine::check(const rocksdb::Status& done) {
  if (!done.ok()) failure->note(to_error(done));
  return failure->check();
}

// CompactRange() waits for another thread; CompactFiles() works in the caller's, which is what
// quiet mode needs. It takes all files, of which none is in other hands.
Status Kv::Engine::merge_all() {
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  const int last = db->NumberLevels() - 1;
  std::vector<std::string> names;
  bool is_merged = true;
  for (const auto& file : files) {
    names.push_back(file.name);
    is_merged = is_merged && file.level == last;
  }
  if (is_merged) return {};
  return check(db->CompactFiles(rocksdb::CompactionOptions(), names, last));
}

std::uint64_t Kv::Engine::number(const rocksdb::Slice& property) const {
  std::uint64_t value = 0;
  return db->GetIntProperty(property, &value) ? value : 0;
}

Kv::Kv(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Kv::~Kv() = default;

Result<std::unique_ptr<Kv>> Kv::open(io::Disk& disk, const std::string& folder, KvOptions options) {
  auto engine = std::make_unique<Engine>(disk, folder, options);
  LEAT_DO(engine->open(options));
  return std::unique_ptr<Kv>(new Kv(std::move(engine)));
}

Result<std::optional<std::string>> Kv::get(std::string_view key) const {
  return engine_->get(key, rocksdb::kReadAllTier);
}

Result<std::optional<std::string>> Kv::get_cached(std::string_view key) const {
  return engine_->get(key, rocksdb::kBlockCacheTier);
}

Status Kv::write(const Batch& batch) {
  LEAT_DO(engine_->failure->check());
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  const rocksdb::Status done = engine_->db->Write(options, &batch.changes_->batch);
  engine_->env->run_jobs();
  return done.ok() ? Status() : engine_->check(done);
}

Status Kv::flush() {
  LEAT_DO(engine_->failure->check());
  rocksdb::FlushOptions options;
  options.wait = !engine_->quiet;
  options.allow_write_stall = true;
  const rocksdb::Status done = engine_->db->Flush(options);
  engine_->env->run_jobs();
  return engine_->check(done);
}

Status Kv::compact() {
  LEAT_DO(flush());
  if (engine_->quiet) return engine_->merge_all();
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  return engine_->check(engine_->db->CompactRange(options, nullptr, nullptr));
}

Cursor Kv::cursor() const {
  auto position = std::make_unique<Cursor::Position>();
  position->iterator.reset(engine_->db->NewIterator(rocksdb::ReadOptions()));
  return Cursor(std::move(position));
}

std::pair<Cursor, Cursor> Kv::twin_cursors() const {
  // What a cursor needs stays with it once it is made: the snapshot is for the time between them.
  const rocksdb::Snapshot* moment = engine_->db->GetSnapshot();
  rocksdb::ReadOptions options;
  options.snapshot = moment;
  const auto make = [this, &options] {
    auto position = std::make_unique<Cursor::Position>();
    position->iterator.reset(engine_->db->NewIterator(options));
    return Cursor(std::move(position));
  };
  Cursor first = make();
  Cursor second = make();
  engine_->db->ReleaseSnapshot(moment);
  return {std::move(first), std::move(second)};
}

Status Kv::verify() const {
  LEAT_DO(verify_sealed(engine_->disk, engine_->folder));
  return to_status(engine_->db->VerifyFileChecksums(rocksdb::ReadOptions()));
}

std::uint64_t Kv::memory_bytes() const {
  return engine_->number(rocksdb::DB::Properties::kCurSizeAllMemTables);
}

std::uint64_t Kv::resident_bytes() const {
  return engine_->cache->GetUsage() + engine_->number(rocksdb::DB::Properties::kSizeAllMemTables) +
         engine_->number(rocksdb::DB::Properties::kEstimateTableReadersMem);
}

std::uint64_t Kv::file_bytes() const {
  return engine_->number(rocksdb::DB::Properties::kTotalSstFilesSize);
}

}  // namespace leat::kv
