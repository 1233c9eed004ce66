#include "transfer/copy.h"

#include <fmt/format.h>

#include "transfer/group.h"
#include "transfer/parts.h"

namespace leat::transfer {
namespace {

constexpr std::uint64_t kWholeMaxBytes = 5 * kGiB;
constexpr std::uint64_t kCopyPartBytes = 512 * kMiB;

class PartedCopy {
 public:
  PartedCopy(Tools& tools, CopyJob job)
      : tools_(tools), job_(std::move(job)), copiers_(tools.shard) {}

  rt::Task<void> run() {
    LEAT_CO_TRY(auto head, co_await s3client::head_object(tools_.client, job_.source));
    if (!job_.etag.empty() && job_.etag != head.etag) {
      co_return fail(Errc::precondition_failed,
                     fmt::format("{}: the object was replaced meanwhile; run the command again",
                                 job_.source.text()));
    }
    job_.etag = head.etag;
    plan_ = plan_parts(head.size_bytes, kCopyPartBytes);
    done_.resize(plan_.count);
    upload_.name = job_.target;
    // A copy of one piece has them of its own; this one has what it is told.
    LEAT_CO_TRY(head.content.tags, co_await s3client::get_tags(tools_.client, job_.source));
    LEAT_CO_TRY(upload_.id, co_await s3client::create_upload(tools_.client, job_.target,
                                                             std::move(head.content)));
    for (std::size_t i = 0; i < tools_.options.parts_at_once; ++i)
      copiers_.spawn(copy_parts());
    Status copied = co_await copiers_.wait();
    if (copied) copied = co_await complete(head);
    if (copied) co_return Status{};
    // Best effort: what matters is what went wrong before.
    const Status ended = co_await s3client::abort_upload(tools_.client, upload_);
    (void)ended;
    co_return copied;
  }

 private:
  rt::Task<void> complete(const s3client::ObjectHead& head) {
    // With the source's checksum the service finds out if the parts are not its bytes.
    std::optional<hash::ChecksumValue> whole;
    if (head.checksum && head.checksum->algorithm() == hash::ChecksumAlgorithm::crc64nvme) {
      whole = head.checksum;
    }
    LEAT_CO_DO(co_await s3client::complete_upload(tools_.client, upload_, std::move(done_), whole));
    co_return Status{};
  }

  rt::Task<void> copy_parts() {
    while (next_ < plan_.count && !copiers_.has_failed()) {
      const std::uint32_t index = next_++;
      const Part part = plan_.part(index);
      s3client::PartRange range{index + 1, part.offset, part.length};
      LEAT_CO_TRY(done_[index], co_await s3client::copy_part(tools_.client, upload_, job_.source,
                                                             range, job_.etag));
      tools_.counters.moved(part.length);
    }
    co_return Status{};
  }

  Tools& tools_;
  CopyJob job_;
  PartPlan plan_;
  s3client::Upload upload_;
  std::vector<s3client::PartDone> done_;
  std::uint32_t next_ = 0;
  Group copiers_;
};

}  // namespace

rt::Task<void> copy_on_service(Tools& tools, CopyJob job) {
  if (job.size_bytes <= kWholeMaxBytes) {
    LEAT_CO_DO(co_await s3client::copy_object(tools.client, job.source, job.target, job.etag));
    tools.counters.moved(job.size_bytes);
    co_return Status{};
  }
  PartedCopy parted(tools, std::move(job));
  co_return co_await parted.run();
}

}  // namespace leat::transfer
