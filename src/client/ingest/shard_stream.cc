#include "ingest/shard_stream.h"

#include "tar/writer.h"
#include "transfer/parted_upload.h"
#include "transfer/parts.h"

namespace leat::ingest {

ShardStream::ShardStream(transfer::Tools& tools, s3client::ObjectName target,
                         s3client::Content content)
    : tools_(tools), content_(std::move(content)) {
  upload_.name = std::move(target);
}

rt::Task<void> ShardStream::add(std::string name, std::string data) {
  const tar::NewMember member{.name = name, .size_bytes = data.size()};
  const std::string header = tar::header(member);
  index_.add({.name = name,
              .kind = tar::Kind::file,
              .start = size_bytes_,
              .data_offset = size_bytes_ + header.size(),
              .size_bytes = data.size()});
  LEAT_CO_DO(co_await write(header));
  LEAT_CO_DO(co_await write(data));
  const std::string padding(tar::padding(data.size()), '\0');
  co_return co_await write(padding);
}

rt::Task<void> ShardStream::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (part_ == nullptr) {
      const auto number = static_cast<std::uint32_t>(pieces_.size());
      const std::uint64_t wanted = transfer::growing_part_bytes(number, tools_.options.part_bytes);
      LEAT_CO_TRY(auto lease, co_await tools_.memory.lease(wanted));
      part_ = std::make_unique<PartBuffer>(std::move(lease));
    }
    const std::size_t before = bytes.size();
    bytes = part_->take(bytes);
    size_bytes_ += before - bytes.size();
    if (part_->is_full()) LEAT_CO_DO(co_await flush());
  }
  co_return Status{};
}

// Sends the part that is there. The first one begins the upload.
rt::Task<void> ShardStream::flush() {
  if (upload_.id.empty()) {
    LEAT_CO_TRY(upload_.id,
                co_await s3client::create_upload(tools_.client, upload_.name, content_));
    senders_.emplace(tools_.shard);
  }
  if (senders_->has_failed()) co_return fail(Errc::io, "an earlier part could not be sent");
  const std::size_t index = pieces_.size();
  pieces_.emplace_back();
  senders_->spawn(send(*this, index, std::move(part_)));
  co_return Status{};
}

rt::Task<void> ShardStream::send(ShardStream& self, std::size_t index, PartPtr part) {
  const Bytes bytes = part->bytes();
  auto sum = [bytes]() -> Result<hash::ChecksumValue> { return transfer::crc64nvme_of(bytes); };
  auto summing = self.tools_.pool.run<hash::ChecksumValue>(std::move(sum));
  LEAT_CO_TRY(const hash::ChecksumValue checksum, co_await std::move(summing));
  const auto number = static_cast<std::uint32_t>(index + 1);
  LEAT_CO_TRY(auto done, co_await s3client::upload_part(self.tools_.client, self.upload_, number,
                                                        bytes, checksum));
  self.tools_.counters.moved(bytes.size());
  self.pieces_[index].emplace(std::move(done), checksum, bytes.size());
  co_return Status{};
}

rt::Task<void> ShardStream::finish() {
  const std::string tail = index_.is_too_large() ? std::string(tar::kEndBytes, '\0')
                                                 : index_.finish_archive(size_bytes_);
  LEAT_CO_DO(co_await write(tail));
  if (part_ != nullptr) LEAT_CO_DO(co_await flush());
  LEAT_CO_DO(co_await senders_->wait());
  std::vector<s3client::PartDone> parts;
  std::optional<hash::ChecksumValue> whole;
  for (auto& piece : pieces_) {
    whole = whole ? hash::combine(*whole, piece->checksum, piece->size_bytes) : piece->checksum;
    parts.push_back(std::move(piece->done));
  }
  LEAT_CO_DO(co_await s3client::complete_upload(tools_.client, upload_, std::move(parts), whole));
  co_return Status{};
}

rt::Task<void> ShardStream::drop() {
  part_.reset();
  if (upload_.id.empty()) co_return Status{};
  const Status sent = co_await senders_->wait();
  (void)sent;  // whether or not: it is thrown away
  co_return co_await s3client::abort_upload(tools_.client, upload_);
}

}  // namespace leat::ingest
