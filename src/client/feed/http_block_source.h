// HttpBlockSource: blocks by ranged GETs of their shard, with If-Match on its ETag.
//
// An answer that breaks off is asked for from there on. Who gives nothing for `patience`, although
// asked again and again, has failed.
//
// Shard: the client's. Lifetime: the client outlives it.
#pragma once

#include "feed/block_source.h"
#include "s3client/s3client.h"

namespace leat::feed {

class HttpBlockSource final : public BlockSource {
 public:
  HttpBlockSource(s3client::S3Client& client, Duration patience)
      : client_(client), patience_(patience) {}

  rt::Task<void> read(const snapshot::ShardEntry& shard, std::uint64_t offset, MutableBytes target,
                      const std::atomic<bool>& is_cancelled) override;

 private:
  // Takes what it gets off `target`.
  rt::Task<void> read_some(const snapshot::ShardEntry& shard, std::uint64_t offset,
                           MutableBytes& target, const std::atomic<bool>& is_cancelled);

  s3client::S3Client& client_;
  Duration patience_;
};

}  // namespace leat::feed
