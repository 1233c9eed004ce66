// KeyStore: the keys of a snapshot that is being built, in few bytes.
//
// As long as keys come sorted, which those of a dataset mostly do, each is kept as what it does not
// share with the one before, and they can only be walked. The first that is out of order unfolds
// them, and any one can be had by its row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.h"
#include "snapshot/types.h"

namespace leat::snapshot {

class KeyStore {
 public:
  void add(std::string_view key);

  bool is_sorted() const { return is_sorted_; }

  // Requires: !is_sorted().
  std::string_view at(Row row) const;

  // Walks sorted keys. Lifetime: the store outlives it and does not change.
  class Walker {
   public:
    // Requires: store.is_sorted().
    explicit Walker(const KeyStore& store) : in_(store.bytes_) {}
    // Requires: it was called less often than add(). Lifetime: until the next call.
    std::string_view next();

   private:
    codec::Decoder in_;
    std::string key_;
  };

 private:
  void unfold();
  void add_whole(std::string_view key);

  bool is_sorted_ = true;
  std::string bytes_;  // varint shared and text rest of each; or all keys, one behind the other
  std::string last_;
  Row count_ = 0;
  std::vector<std::uint32_t> ends_;  // by row, modulo 2^32
  std::vector<Row> wraps_;           // the rows from which on 2^32 more are to be added
};

}  // namespace leat::snapshot
