// PartedUpload: a large file on its way in parts, several at a time, resumable.
//
// Shard: one. Lifetime: run() has returned before it is destroyed.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "transfer/content.h"
#include "transfer/group.h"
#include "transfer/parts.h"
#include "transfer/upload.h"
#include "transfer/upload_state.h"

namespace leat::transfer {

hash::ChecksumValue crc64nvme_of(Bytes bytes);

class PartedUpload {
 public:
  PartedUpload(Tools& tools, UploadJob job, OpenFile open);

  // Errors: conflict, when the file changes meanwhile; what disk and service say. After an error
  // the parts stay with the service, for the next run.
  rt::Task<void> run();

 private:
  struct Piece {
    s3client::PartDone done;
    hash::ChecksumValue checksum;
  };

  std::optional<std::string> state_file() const;
  rt::Task<bool> resume();
  rt::Task<void> begin();
  rt::Task<void> send_parts();
  rt::Task<void> send_part(std::uint32_t index);
  rt::Task<void> finish();
  rt::Task<void> forget();

  Tools& tools_;
  UploadJob job_;
  OpenFile open_;
  UploadIdentity identity_;
  PartPlan plan_;
  s3client::Upload upload_;
  std::map<std::uint32_t, s3client::ListedPart> there_;  // by number: what the service has
  std::vector<std::optional<Piece>> pieces_;
  std::uint32_t next_ = 0;
  Group senders_;
};

}  // namespace leat::transfer
