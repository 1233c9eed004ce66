#include "transfer/upload.h"

#include <fmt/format.h>

#include "hash/checksum.h"
#include "transfer/content.h"
#include "transfer/parted_upload.h"

namespace leat::transfer {
namespace {

rt::Task<void> send_whole(Tools& tools, Bytes bytes, s3client::ObjectName target,
                          s3client::Content content) {
  s3client::PutQuery query{.name = std::move(target),
                           .bytes = bytes,
                           .checksum = crc64nvme_of(bytes),
                           .content = std::move(content)};
  LEAT_CO_DO(co_await s3client::put_object(tools.client, std::move(query)));
  tools.counters.moved(bytes.size());
  co_return Status{};
}

// All bytes of a file, and which version of it they are; if they do not fit, only that.
// Errors: conflict, when it changes meanwhile.
Result<io::FileInfo> read_whole(io::Disk& disk, const std::string& path, MutableBytes room) {
  LEAT_TRY(const auto file, disk.open(path, io::OpenMode::read));
  LEAT_TRY(const io::FileInfo before, file->info());
  if (before.size_bytes >= room.size()) return before;
  LEAT_TRY(const std::size_t count, file->read_at(0, room));
  LEAT_TRY(const io::FileInfo after, file->info());
  if (count == before.size_bytes && is_same_version(before, after)) return before;
  return fail(Errc::conflict,
              fmt::format("{} changed while it was read; run the command again", path));
}

}  // namespace

hash::ChecksumValue crc64nvme_of(Bytes bytes) {
  hash::Checksum checksum(hash::ChecksumAlgorithm::crc64nvme);
  checksum.update(bytes);
  return checksum.finish();
}

rt::Task<Sent> upload_file(Tools& tools, UploadJob job) {
  if (job.size_bytes <= tools.options.part_bytes) {
    // One byte more than is expected tells whether the file has grown.
    LEAT_CO_TRY(const auto lease, co_await tools.memory.lease(job.size_bytes + 1));
    const MutableBytes room = lease.bytes();
    auto work = [&disk = tools.disk, path = job.path, room] {
      return read_whole(disk, path, room);
    };
    auto reading = tools.pool.run<io::FileInfo>(std::move(work));
    LEAT_CO_TRY(const io::FileInfo info, co_await std::move(reading));
    if (info.size_bytes <= job.size_bytes) {
      const Bytes bytes = Bytes(room).first(info.size_bytes);
      LEAT_CO_DO(co_await send_whole(tools, bytes, std::move(job.target), std::move(job.content)));
      Sent sent{info.size_bytes, info};
      co_return sent;
    }
  }
  LEAT_CO_TRY(OpenFile open, co_await open_file(tools, job.path));
  Sent sent{open.info.size_bytes, open.info};
  PartedUpload parted(tools, std::move(job), std::move(open));
  LEAT_CO_DO(co_await parted.run());
  co_return sent;
}

namespace {

// One after the other: a stream has only one end to read at.
rt::Task<std::uint64_t> send_parts(Tools& tools, ByteSource& source, s3client::Upload upload,
                                   MemoryBudget::Lease first, std::size_t filled) {
  std::vector<s3client::PartDone> parts;
  std::optional<hash::ChecksumValue> whole;
  std::uint64_t total = 0;
  std::optional<MemoryBudget::Lease> lease(std::move(first));
  while (filled > 0) {
    const auto number = static_cast<std::uint32_t>(parts.size() + 1);
    const Bytes bytes = Bytes(lease->bytes()).first(filled);
    const hash::ChecksumValue sum = crc64nvme_of(bytes);
    LEAT_CO_TRY(auto done,
                co_await s3client::upload_part(tools.client, upload, number, bytes, sum));
    parts.push_back(std::move(done));
    whole = whole ? hash::combine(*whole, sum, filled) : sum;
    total += filled;
    tools.counters.moved(filled);
    const std::uint64_t wanted = growing_part_bytes(number, tools.options.part_bytes);
    if (wanted > lease->bytes().size()) {
      lease.reset();
      LEAT_CO_TRY(auto larger, co_await tools.memory.lease(wanted));
      lease.emplace(std::move(larger));
    }
    LEAT_CO_TRY(filled, co_await source.read(lease->bytes()));
  }
  LEAT_CO_DO(co_await s3client::complete_upload(tools.client, upload, std::move(parts), whole));
  co_return total;
}

}  // namespace

rt::Task<std::uint64_t> upload_stream(Tools& tools, ByteSource& source, s3client::ObjectName target,
                                      s3client::Content content) {
  const std::uint64_t first_bytes = growing_part_bytes(0, tools.options.part_bytes);
  LEAT_CO_TRY(auto lease, co_await tools.memory.lease(first_bytes));
  LEAT_CO_TRY(const std::size_t filled, co_await source.read(lease.bytes()));
  if (filled < lease.bytes().size()) {
    const Bytes bytes = Bytes(lease.bytes()).first(filled);
    LEAT_CO_DO(co_await send_whole(tools, bytes, std::move(target), std::move(content)));
    co_return filled;
  }
  LEAT_CO_TRY(auto id, co_await s3client::create_upload(tools.client, target, std::move(content)));
  s3client::Upload upload{std::move(target), std::move(id)};
  auto sent = co_await send_parts(tools, source, upload, std::move(lease), filled);
  if (!sent) {
    // Best effort: what matters is what went wrong before.
    const Status ended = co_await s3client::abort_upload(tools.client, upload);
    (void)ended;
  }
  co_return sent;
}

}  // namespace leat::transfer
