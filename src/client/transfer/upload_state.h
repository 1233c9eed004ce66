// UploadState: what this machine remembers of an upload in parts, so that a later run goes on.
//
// One small file for each upload that is under way, in a folder of the user's. Which parts the
// service has is asked of the service; that they are this file's is shown by their checksums.
//
// Calls block: they run on a pool.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/disk.h"
#include "s3client/operations.h"

namespace leat::transfer {

// What makes an upload the same one: from where to where. Any change of the file ends it, and so
// does another content type or metadata: they were fixed when it began.
struct UploadIdentity {
  std::string endpoint{};
  s3client::ObjectName target{};
  std::string path{};
  std::uint64_t size_bytes = 0;
  WallTime changed{};
  s3client::Content content{};
};

struct UploadState {
  std::string id{};  // the service's
  std::uint64_t part_bytes = 0;
};

// The file that an upload is remembered in.
std::string state_path(const std::string& folder, const UploadIdentity& identity);

std::string encode(const UploadIdentity& identity, const UploadState& state);
// Nothing if the text is no state, or one of another version of the file.
std::optional<UploadState> decode(std::string_view text, const UploadIdentity& identity);

}  // namespace leat::transfer
