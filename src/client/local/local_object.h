// LocalObject: an object of a node on this machine, read from its open files instead of over HTTP.
//
// The node passed the descriptors and the checksums (local/local_shards.h). Bytes come out of the
// page cache by pread, and each block of 64 KiB that is touched is verified: damage is
// Errc::corrupt, never a wrong byte. Who gets that asks over HTTP, where the node sees it, too.
//
// The version that was opened stays readable until the object is dropped, also when it is replaced
// or removed meanwhile; its space is free after that.
//
// Thread: any, several at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "io/disk.h"

namespace leat::local {

class LocalObject {
 public:
  struct Piece {
    std::unique_ptr<const io::File> file{};
    std::uint64_t size_bytes = 0;  // of the object, at the beginning of the file
    std::string sums{};            // CRC32C of each 64 KiB, 4 bytes each, little-endian
  };

  // The pieces in order. Requires: none is empty, and each has the sums its size asks for.
  explicit LocalObject(std::vector<Piece> pieces);

  // Fills `target` with the bytes from `offset` on. Blocks while they come from the disk.
  // Whole blocks go straight to the target; of a block that the range only touches, the rest is
  // read and thrown away.
  // Errors: range_not_satisfiable (beyond the end), corrupt, io. Then the target holds anything.
  Status read(std::uint64_t offset, MutableBytes target) const;

  std::uint64_t size_bytes() const { return size_bytes_; }
  // How many it holds open.
  std::size_t descriptors() const { return pieces_.size(); }

 private:
  Status read_piece(std::size_t index, std::uint64_t offset, MutableBytes target) const;
  // Requires: whole blocks.
  Status read_blocks(std::size_t index, std::uint64_t offset, MutableBytes target) const;

  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> begins_;  // of each piece in the object
  std::uint64_t size_bytes_ = 0;
};
using LocalObjectPtr = std::shared_ptr<const LocalObject>;

}  // namespace leat::local
