#include "transfer/parted_download.h"

#include "transfer/content.h"
#include "transfer/names.h"

namespace leat::transfer {

PartedDownload::PartedDownload(Tools& tools, DownloadJob job, s3client::ObjectHead head)
    : tools_(tools),
      job_(std::move(job)),
      head_(std::move(head)),
      plan_(plan_parts(head_.size_bytes, tools.options.part_bytes)),
      sums_(plan_.count),
      fetchers_(tools.shard) {}

rt::Task<void> PartedDownload::run() {
  LEAT_CO_DO(co_await open());
  const std::size_t fetchers = std::min<std::size_t>(tools_.options.parts_at_once, plan_.count);
  for (std::size_t i = 0; i < fetchers; ++i)
    fetchers_.spawn(fetch_parts());
  LEAT_CO_DO(co_await fetchers_.wait());
  LEAT_CO_TRY(const bool good, co_await is_good());
  LEAT_CO_DO(co_await close(good));
  if (!good) co_return fail(damaged(job_.source));
  co_return Status{};
}

rt::Task<void> PartedDownload::open() {
  auto work = [this]() -> Result<std::unique_ptr<PartFile>> {
    LEAT_DO(make_folders(tools_.disk, job_.path, job_.is_durable));
    // A mark may outlive its bytes in a power cut, which only a checksum finds.
    const bool goes_on = head_.checksum.has_value();
    return PartFile::open(tools_.disk, job_.path, plan_, head_.etag, goes_on);
  };
  auto opening = tools_.pool.run<std::unique_ptr<PartFile>>(std::move(work));
  LEAT_CO_TRY(file_, co_await std::move(opening));
  co_return Status{};
}

rt::Task<void> PartedDownload::fetch_parts() {
  while (next_ < plan_.count && !fetchers_.has_failed()) {
    LEAT_CO_DO(co_await fetch_part(next_++));
  }
  co_return Status{};
}

rt::Task<void> PartedDownload::fetch_range(const Part& part, MutableBytes room) {
  for (std::uint32_t attempt = 1;; ++attempt) {
    s3client::GetQuery query{
        .name = job_.source, .offset = part.offset, .length = part.length, .etag = head_.etag};
    LEAT_CO_TRY(auto response, co_await s3client::open_object(tools_.client, std::move(query)));
    Status read = co_await read_body(response, room);
    if (read || !may_fetch_again(read.error(), attempt, tools_.options)) co_return read;
  }
}

rt::Task<void> PartedDownload::write(std::uint32_t index, Bytes bytes) {
  LEAT_CO_TRY(const auto turn, co_await writing_.take());
  const std::uint64_t offset = plan_.part(index).offset;
  LEAT_CO_DO(co_await tools_.files.write_at(file_->file(), offset, bytes));
  // Only now: the mark says that the bytes are there.
  const std::uint64_t mark = file_->mark_offset(index);
  co_return co_await tools_.files.write_at(file_->file(), mark, as_bytes("1"));
}

rt::Task<void> PartedDownload::fetch_part(std::uint32_t index) {
  const Part part = plan_.part(index);
  const bool is_linear = head_.checksum && hash::is_linear(head_.checksum->algorithm());
  const bool is_there = file_->has(index);
  if (is_there && !is_linear) {
    tools_.counters.bytes_done += part.length;
    co_return Status{};
  }
  LEAT_CO_TRY(const auto lease, co_await tools_.memory.lease(part.length));
  const MutableBytes room = lease.bytes();
  if (is_there) {
    LEAT_CO_TRY(const std::size_t count,
                co_await tools_.files.read_at(file_->file(), part.offset, room));
    if (count < room.size()) co_return fail(Errc::io, job_.path + " became shorter");
    tools_.counters.bytes_done += part.length;
  } else {
    LEAT_CO_DO(co_await fetch_range(part, room));
    LEAT_CO_DO(co_await write(index, room));
    tools_.counters.moved(part.length);
  }
  if (is_linear) {
    hash::Checksum checksum(head_.checksum->algorithm());
    checksum.update(room);
    sums_[index] = checksum.finish();
  }
  co_return Status{};
}

rt::Task<bool> PartedDownload::is_good() {
  if (!head_.checksum) co_return true;
  if (!hash::is_linear(head_.checksum->algorithm())) {
    const auto algorithm = head_.checksum->algorithm();
    LEAT_CO_TRY(const auto whole,
                co_await checksum_of(tools_, file_->file(), head_.size_bytes, algorithm));
    co_return whole == *head_.checksum;
  }
  std::optional<hash::ChecksumValue> whole;
  for (std::uint32_t i = 0; i < plan_.count; ++i) {
    whole = whole ? hash::combine(*whole, *sums_[i], plan_.part(i).length) : *sums_[i];
  }
  co_return whole == head_.checksum;
}

rt::Task<void> PartedDownload::close(bool good) {
  const WallTime modified = file_time(job_.listed, head_);
  auto work = [this, good, modified] {
    return good ? file_->complete(modified, job_.is_durable) : file_->discard();
  };
  auto closing = tools_.pool.run<void>(std::move(work));
  co_return co_await std::move(closing);
}

}  // namespace leat::transfer
