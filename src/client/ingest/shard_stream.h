// ShardStream: a shard that is written member by member and sent while it grows.
//
// Its size is not known before its end, so it always travels in parts; those that are full are sent
// while the next one fills. It appears when finish() returns, or never.
//
// Shard: one. Lifetime: finish() or drop() has returned before it is destroyed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingest/part_buffer.h"
#include "s3client/operations.h"
#include "shard/index.h"
#include "transfer/group.h"
#include "transfer/tools.h"

namespace leat::ingest {

class ShardStream {
 public:
  ShardStream(transfer::Tools& tools, s3client::ObjectName target, s3client::Content content);

  // Errors: what the service said of an earlier part.
  rt::Task<void> add(std::string name, std::string data);
  // Index, end, and the object is there.
  rt::Task<void> finish();
  // Nothing of it stays.
  rt::Task<void> drop();

  const s3client::ObjectName& target() const { return upload_.name; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t samples() const { return index_.samples(); }

 private:
  struct Piece {
    s3client::PartDone done;
    hash::ChecksumValue checksum;
    std::uint64_t size_bytes;
  };

  rt::Task<void> write(std::string_view bytes);
  rt::Task<void> flush();
  static rt::Task<void> send(ShardStream& self, std::size_t index, PartPtr part);

  transfer::Tools& tools_;
  s3client::Upload upload_;
  s3client::Content content_;
  shard::Builder index_;
  std::uint64_t size_bytes_ = 0;
  PartPtr part_;
  std::vector<std::optional<Piece>> pieces_;
  std::optional<transfer::Group> senders_;
};

}  // namespace leat::ingest
