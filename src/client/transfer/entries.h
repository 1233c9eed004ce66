// Entries: what is in a folder or under a prefix, one by one, in the order of the bytes of names.
//
// Both sides come in the same order, so that two trees of any size are compared side by side in
// little memory (plan.h).
//
// Shard: one. Lifetime: client, disk and pool outlive the source and its tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/disk.h"
#include "rt/blocking_pool.h"
#include "s3client/answers.h"
#include "s3client/s3client.h"
#include "transfer/compare.h"
#include "transfer/filter.h"

namespace leat::transfer {

class EntrySource {
 public:
  virtual ~EntrySource() = default;
  // The next one; nothing at the end.
  virtual rt::Task<std::optional<Entry>> next() = 0;
};

class NoEntries final : public EntrySource {
 public:
  rt::Task<std::optional<Entry>> next() override { co_return std::optional<Entry>(); }
};

// Objects whose keys begin with `prefix`, named by what follows it.
class ObjectEntries final : public EntrySource {
 public:
  ObjectEntries(s3client::S3Client& client, std::string bucket, std::string prefix);
  rt::Task<std::optional<Entry>> next() override;

 private:
  s3client::S3Client& client_;
  std::string bucket_;
  std::string prefix_;
  std::string continuation_;
  std::vector<s3client::ListedObject> page_;
  std::size_t at_ = 0;
  bool is_last_ = false;
};

// Those of another source that a filter takes. Lifetime: the filter outlives it.
class FilteredEntries final : public EntrySource {
 public:
  FilteredEntries(std::unique_ptr<EntrySource> all, const NameFilter& filter)
      : all_(std::move(all)), filter_(filter) {}
  rt::Task<std::optional<Entry>> next() override;

 private:
  std::unique_ptr<EntrySource> all_;
  const NameFilter& filter_;
};

// What to do with files that are called as incomplete downloads are (names.h).
enum class Incomplete : std::uint8_t { pass_over, complain };

// Files below a folder. Symbolic links are followed, but not in a circle. Incomplete downloads are
// left out.
class FileEntries final : public EntrySource {
 public:
  struct Ground {
    io::Disk& disk;
    rt::BlockingPool& pool;
  };
  using Complain = std::function<void(const std::string& path, const Error& error)>;

  // What cannot be looked at is told to `complain` and passed over. A folder that is not there has
  // no files.
  FileEntries(const Ground& ground, std::string root, Complain complain,
              Incomplete incomplete = Incomplete::pass_over);
  ~FileEntries() override;
  rt::Task<std::optional<Entry>> next() override;

 private:
  struct Item;
  struct Level;

  rt::Task<void> enter(std::string name, std::uint64_t inode);

  Ground ground_;
  std::string root_;
  Complain complain_;
  Incomplete incomplete_;
  bool is_open_ = false;
  std::vector<std::unique_ptr<Level>> levels_;
};

}  // namespace leat::transfer
