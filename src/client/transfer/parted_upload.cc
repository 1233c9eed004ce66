#include "transfer/parted_upload.h"

#include <fmt/format.h>

#include "transfer/names.h"

namespace leat::transfer {

PartedUpload::PartedUpload(Tools& tools, UploadJob job, OpenFile open)
    : tools_(tools),
      job_(std::move(job)),
      open_(std::move(open)),
      identity_{.endpoint = tools.client.endpoint().url,
                .target = job_.target,
                .path = job_.path,
                .size_bytes = open_.info.size_bytes,
                .changed = open_.info.changed,
                .content = job_.content},
      plan_(plan_parts(open_.info.size_bytes, tools.options.part_bytes)),
      senders_(tools.shard) {
  upload_.name = job_.target;
}

std::optional<std::string> PartedUpload::state_file() const {
  if (tools_.options.state_folder.empty()) return std::nullopt;
  return state_path(tools_.options.state_folder, identity_);
}

rt::Task<void> PartedUpload::run() {
  LEAT_CO_TRY(const bool goes_on, co_await resume());
  if (!goes_on) LEAT_CO_DO(co_await begin());
  pieces_.resize(plan_.count);
  const std::size_t senders = std::min<std::size_t>(tools_.options.parts_at_once, plan_.count);
  for (std::size_t i = 0; i < senders; ++i)
    senders_.spawn(send_parts());
  LEAT_CO_DO(co_await senders_.wait());
  LEAT_CO_DO(co_await finish());
  co_return co_await forget();
}

// True if an earlier run of this upload can be continued.
rt::Task<bool> PartedUpload::resume() {
  const auto path = state_file();
  if (!path) co_return false;
  auto work = [&disk = tools_.disk, path = *path] { return io::read_text(disk, path); };
  auto reading = tools_.pool.run<std::string>(std::move(work));
  const auto text = co_await std::move(reading);
  const auto state = text ? decode(*text, identity_) : std::nullopt;
  if (!state) co_return false;
  upload_.id = state->id;
  auto parts = co_await s3client::list_parts(tools_.client, upload_);
  if (!parts) {
    // The service has ended it, for whatever reason: begin anew.
    if (parts.error().code() == Errc::not_found) co_return false;
    co_return fail(std::move(parts).error());
  }
  plan_ = plan_parts(open_.info.size_bytes, state->part_bytes);
  for (s3client::ListedPart& part : *parts)
    there_.emplace(part.number, std::move(part));
  co_return true;
}

rt::Task<void> PartedUpload::begin() {
  LEAT_CO_TRY(upload_.id,
              co_await s3client::create_upload(tools_.client, job_.target, job_.content));
  const auto path = state_file();
  if (!path) co_return Status{};
  auto work = [&disk = tools_.disk, path = *path, folder = tools_.options.state_folder,
               text = encode(identity_, {upload_.id, plan_.part_bytes})]() -> Status {
    LEAT_DO(disk.make_directories(folder));
    return io::replace_text(disk, path, text);
  };
  auto writing = tools_.pool.run<void>(std::move(work));
  // Without it a later run cannot go on here; this one can.
  const Status remembered = co_await std::move(writing);
  (void)remembered;
  co_return Status{};
}

rt::Task<void> PartedUpload::send_parts() {
  while (next_ < plan_.count && !senders_.has_failed()) {
    LEAT_CO_DO(co_await send_part(next_++));
  }
  co_return Status{};
}

rt::Task<void> PartedUpload::send_part(std::uint32_t index) {
  const Part part = plan_.part(index);
  LEAT_CO_TRY(const auto lease, co_await tools_.memory.lease(part.length));
  const MutableBytes room = lease.bytes();
  LEAT_CO_TRY(const std::size_t count,
              co_await tools_.files.read_at(*open_.file, part.offset, room));
  if (count < room.size()) {
    co_return fail(Errc::conflict, fmt::format("{} became shorter while it was sent", job_.path));
  }
  const hash::ChecksumValue checksum = crc64nvme_of(room);
  const std::uint32_t number = index + 1;
  const auto found = there_.find(number);
  if (found != there_.end() && found->second.size_bytes == part.length &&
      found->second.crc64nvme == checksum.base64()) {
    s3client::PartDone done{number, found->second.etag, found->second.crc64nvme};
    pieces_[index].emplace(std::move(done), checksum);
    tools_.counters.bytes_done += part.length;
    co_return Status{};
  }
  LEAT_CO_TRY(auto done,
              co_await s3client::upload_part(tools_.client, upload_, number, room, checksum));
  pieces_[index].emplace(std::move(done), checksum);
  tools_.counters.moved(part.length);
  co_return Status{};
}

rt::Task<void> PartedUpload::finish() {
  auto work = [file = open_.file] { return file->info(); };
  auto looking = tools_.pool.run<io::FileInfo>(std::move(work));
  LEAT_CO_TRY(const io::FileInfo now, co_await std::move(looking));
  if (now.changed != open_.info.changed || now.size_bytes != open_.info.size_bytes) {
    co_return fail(Errc::conflict,
                   fmt::format("{} changed while it was sent; run the command again", job_.path));
  }
  std::vector<s3client::PartDone> parts;
  std::optional<hash::ChecksumValue> whole;
  for (std::uint32_t i = 0; i < plan_.count; ++i) {
    Piece& piece = *pieces_[i];
    whole = whole ? hash::combine(*whole, piece.checksum, plan_.part(i).length) : piece.checksum;
    parts.push_back(std::move(piece.done));
  }
  LEAT_CO_DO(co_await s3client::complete_upload(tools_.client, upload_, std::move(parts), whole));
  co_return Status{};
}

rt::Task<void> PartedUpload::forget() {
  const auto path = state_file();
  if (!path) co_return Status{};
  auto work = [&disk = tools_.disk, path = *path] { return disk.remove(path); };
  auto removing = tools_.pool.run<void>(std::move(work));
  // It may never have been written; if it stays, the service says that the upload is over.
  const Status removed = co_await std::move(removing);
  (void)removed;
  co_return Status{};
}

}  // namespace leat::transfer
