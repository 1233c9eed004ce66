// Key pages: sorted keys, each with its row, front-coded in pages of 64 KiB.
//
// Every 16th key of a page stands in full; the others say how many bytes they share with the one
// before. So a page is searched by its full keys, then at most 16 entries are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/codec.h"
#include "snapshot/footer.h"
#include "snapshot/types.h"

namespace leat::snapshot {

constexpr std::size_t kRestartEvery = 16;

// Collects entries until a page is full.
class KeyPageWriter {
 public:
  // False, and nothing is taken, if the page is full. The first entry always fits.
  // `wide`: the place of its wide record, for a sample that has one.
  bool add(std::string_view key, Row row, std::optional<std::uint32_t> wide);

  std::size_t count() const { return count_; }
  // The page, not padded. Ensures: the writer is as new.
  std::string take();

 private:
  std::string entries_;
  std::vector<std::size_t> restarts_;
  std::size_t count_ = 0;
  std::string key_;
  Row row_ = 0;
};

// Reads the entries of a verified page. Lifetime: the page outlives it.
class KeyPage {
 public:
  // Errors: corrupt.
  static Result<KeyPage> open(Bytes page);

  std::size_t count() const { return count_; }

  // The entry it stands on, after seek() or next() was true.
  const std::string& key() const { return key_; }
  Row row() const { return row_; }
  std::optional<std::uint32_t> wide() const { return wide_; }

  // Each goes to an entry and says whether there is one. Errors: corrupt.
  Result<bool> next();
  Result<bool> seek_slot(std::size_t slot);
  // The first entry that is not before `key`.
  Result<bool> seek(std::string_view key);

 private:
  explicit KeyPage(std::string_view page, std::size_t count) : page_(page), count_(count) {}

  std::size_t restart_count() const { return (count_ + kRestartEvery - 1) / kRestartEvery; }
  // Stands before entry restart * kRestartEvery.
  void go_to_restart(std::size_t restart);
  Result<std::string_view> restart_key(std::size_t restart) const;

  std::string_view page_;
  std::size_t count_;
  std::size_t slot_ = 0;  // of the entry that next() reads
  codec::Decoder in_{std::string_view{}};
  std::string key_;
  Row row_ = 0;
  std::optional<std::uint32_t> wide_;
};

}  // namespace leat::snapshot
