// ShardSender: one planned shard on its way to the store, in parts that are made and sent several
// at a time.
//
// A run that died left its parts with the service; the next one goes on with those that have the
// bytes it would send, by their checksums (transfer/upload_state.h remembers the upload).
//
// Shard: one. Lifetime: run() has returned before it is destroyed; tools and image outlive it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hash/checksum.h"
#include "ingest/shard_image.h"
#include "s3client/operations.h"
#include "transfer/group.h"
#include "transfer/parts.h"
#include "transfer/tools.h"
#include "transfer/upload_state.h"

namespace leat::ingest {

class ShardSender {
 public:
  ShardSender(transfer::Tools& tools, const ShardImage& image, s3client::ObjectName target,
              s3client::Content content);

  // Nothing bad: the object is there, complete and verified by the service. Otherwise what could
  // not be packed, and nothing is there.
  // Errors: what the service says.
  rt::Task<std::optional<BadGroup>> run();

  // The checksum of the whole, made here without sending anything. Nothing if a file is bad.
  rt::Task<std::optional<hash::ChecksumValue>> make_checksum();

  // Requires: run() found nothing bad.
  const hash::ChecksumValue& checksum() const { return *whole_; }

 private:
  struct Piece {
    s3client::PartDone done;
    hash::ChecksumValue checksum;
  };
  enum class Mode : std::uint8_t { send, only_checksum };

  std::optional<std::string> state_file() const;
  rt::Task<bool> resume();
  rt::Task<void> begin();
  rt::Task<void> work(Mode mode);
  rt::Task<void> make_parts(Mode mode);
  rt::Task<void> make_part(std::uint32_t index, Mode mode);
  rt::Task<void> send_part(std::uint32_t index, Bytes bytes, hash::ChecksumValue checksum);
  rt::Task<void> finish();
  rt::Task<void> forget();
  void join_checksums();

  transfer::Tools& tools_;
  const ShardImage& image_;
  transfer::UploadIdentity identity_;
  transfer::PartPlan plan_;
  s3client::Upload upload_;
  std::map<std::uint32_t, s3client::ListedPart> there_;
  std::vector<std::optional<Piece>> pieces_;
  std::optional<hash::ChecksumValue> whole_;
  std::optional<BadGroup> bad_;
  std::uint32_t next_ = 0;
};

}  // namespace leat::ingest
