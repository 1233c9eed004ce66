// PartedDownload: a large object on its way in ranges, several at a time, resumable; and the steps
// that all downloads share.
//
// Shard: one. Lifetime: run() has returned before it is destroyed.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "transfer/download.h"
#include "transfer/group.h"
#include "transfer/part_file.h"
#include "transfer/turn.h"

namespace leat::transfer {

Error damaged(const s3client::ObjectName& name);
bool may_fetch_again(const Error& error, std::uint32_t attempt, const TransferOptions& options);
// Fills `target` from the body. Errors: closed, when it is shorter.
rt::Task<void> read_body(httpclient::Response& response, MutableBytes target);
// The folders above a file; durable ones are there after a power cut. Blocks.
Status make_folders(io::Disk& disk, const std::string& path, bool is_durable);

class PartedDownload {
 public:
  PartedDownload(Tools& tools, DownloadJob job, s3client::ObjectHead head);

  rt::Task<void> run();

 private:
  rt::Task<void> open();
  rt::Task<void> fetch_parts();
  rt::Task<void> fetch_part(std::uint32_t index);
  rt::Task<void> fetch_range(const Part& part, MutableBytes room);
  rt::Task<void> write(std::uint32_t index, Bytes bytes);
  rt::Task<bool> is_good();
  rt::Task<void> close(bool good);

  Tools& tools_;
  DownloadJob job_;
  s3client::ObjectHead head_;
  PartPlan plan_;
  std::unique_ptr<PartFile> file_;
  std::vector<std::optional<hash::ChecksumValue>> sums_;
  std::uint32_t next_ = 0;
  // File systems let one writer of a file in; others that came would only burn their time.
  Turn writing_;
  Group fetchers_;
};

}  // namespace leat::transfer
