#include "ingest/shard_sender.h"

#include "transfer/parted_upload.h"

namespace leat::ingest {
namespace {

// What a thread of the pool brings back.
struct Made {
  std::optional<BadGroup> bad{};
  std::optional<hash::ChecksumValue> checksum{};
};

}  // namespace

ShardSender::ShardSender(transfer::Tools& tools, const ShardImage& image,
                         s3client::ObjectName target, s3client::Content content)
    : tools_(tools),
      image_(image),
      identity_{.endpoint = tools.client.endpoint().url,
                .target = target,
                .path = "shard " + image.identity(),
                .size_bytes = image.size_bytes(),
                .content = std::move(content)},
      plan_(transfer::plan_parts(image.size_bytes(), tools.options.part_bytes)) {
  upload_.name = std::move(target);
}

std::optional<std::string> ShardSender::state_file() const {
  if (tools_.options.state_folder.empty()) return std::nullopt;
  return transfer::state_path(tools_.options.state_folder, identity_);
}

rt::Task<std::optional<BadGroup>> ShardSender::run() {
  if (plan_.count > 1) {
    LEAT_CO_TRY(const bool goes_on, co_await resume());
    if (!goes_on) LEAT_CO_DO(co_await begin());
  }
  LEAT_CO_DO(co_await work(Mode::send));
  if (bad_) {
    if (plan_.count > 1) {
      // Best effort: what counts is which file is bad.
      const Status ended = co_await s3client::abort_upload(tools_.client, upload_);
      (void)ended;
      LEAT_CO_DO(co_await forget());
    }
    co_return std::move(bad_);
  }
  join_checksums();
  if (plan_.count > 1) {
    LEAT_CO_DO(co_await finish());
    LEAT_CO_DO(co_await forget());
  }
  co_return std::optional<BadGroup>();
}

rt::Task<std::optional<hash::ChecksumValue>> ShardSender::make_checksum() {
  LEAT_CO_DO(co_await work(Mode::only_checksum));
  if (bad_) co_return std::optional<hash::ChecksumValue>();
  join_checksums();
  co_return whole_;
}

rt::Task<bool> ShardSender::resume() {
  const auto path = state_file();
  if (!path) co_return false;
  auto look = [&disk = tools_.disk, path = *path] { return io::read_text(disk, path); };
  auto reading = tools_.pool.run<std::string>(std::move(look));
  const auto text = co_await std::move(reading);
  const auto state = text ? transfer::decode(*text, identity_) : std::nullopt;
  if (!state) co_return false;
  upload_.id = state->id;
  auto parts = co_await s3client::list_parts(tools_.client, upload_);
  if (!parts && parts.error().code() == Errc::not_found) co_return false;
  if (!parts) co_return fail(std::move(parts).error());
  plan_ = transfer::plan_parts(image_.size_bytes(), state->part_bytes);
  for (s3client::ListedPart& part : *parts)
    there_.emplace(part.number, std::move(part));
  co_return true;
}

rt::Task<void> ShardSender::begin() {
  LEAT_CO_TRY(upload_.id,
              co_await s3client::create_upload(tools_.client, upload_.name, identity_.content));
  const auto path = state_file();
  if (!path) co_return Status{};
  auto write = [&disk = tools_.disk, path = *path, folder = tools_.options.state_folder,
                text = transfer::encode(identity_, {upload_.id, plan_.part_bytes})]() -> Status {
    LEAT_DO(disk.make_directories(folder));
    return io::replace_text(disk, path, text);
  };
  auto writing = tools_.pool.run<void>(std::move(write));
  // Without it a later run sends this shard from its beginning.
  const Status remembered = co_await std::move(writing);
  (void)remembered;
  co_return Status{};
}

rt::Task<void> ShardSender::work(Mode mode) {
  pieces_.clear();
  pieces_.resize(plan_.count);
  next_ = 0;
  bad_.reset();
  transfer::Group makers(tools_.shard);
  const std::size_t count = std::min<std::size_t>(tools_.options.parts_at_once, plan_.count);
  for (std::size_t i = 0; i < count; ++i)
    makers.spawn(make_parts(mode));
  co_return co_await makers.wait();
}

rt::Task<void> ShardSender::make_parts(Mode mode) {
  while (next_ < plan_.count && !bad_) {
    const std::uint32_t index = next_++;
    LEAT_CO_DO(co_await make_part(index, mode));
  }
  co_return Status{};
}

rt::Task<void> ShardSender::make_part(std::uint32_t index, Mode mode) {
  const transfer::Part part = plan_.part(index);
  LEAT_CO_TRY(const auto lease, co_await tools_.memory.lease(part.length));
  const MutableBytes room = lease.bytes();
  auto fill = [&disk = tools_.disk, &image = image_, part, room]() -> Result<Made> {
    Made made{.bad = image.fill(disk, part.offset, room)};
    if (!made.bad) made.checksum = transfer::crc64nvme_of(room);
    return made;
  };
  auto filling = tools_.pool.run<Made>(std::move(fill));
  LEAT_CO_TRY(Made made, co_await std::move(filling));
  if (made.bad) {
    if (!bad_) bad_ = std::move(made.bad);
    co_return Status{};
  }
  if (mode == Mode::only_checksum) {
    pieces_[index].emplace(s3client::PartDone{}, *made.checksum);
    co_return Status{};
  }
  LEAT_CO_DO(co_await send_part(index, room, *made.checksum));
  co_return Status{};
}

rt::Task<void> ShardSender::send_part(std::uint32_t index, Bytes bytes,
                                      hash::ChecksumValue checksum) {
  const transfer::Part part = plan_.part(index);
  const std::uint32_t number = index + 1;
  const std::uint64_t files = image_.files_in(part.offset, part.length);
  const auto found = there_.find(number);
  s3client::PartDone done{.number = number};
  if (plan_.count == 1) {
    s3client::PutQuery query{
        .name = upload_.name, .bytes = bytes, .checksum = checksum, .content = identity_.content};
    LEAT_CO_TRY(done.etag, co_await s3client::put_object(tools_.client, std::move(query)));
    tools_.counters.moved(part.length);
  } else if (found != there_.end() && found->second.size_bytes == part.length &&
             found->second.crc64nvme == checksum.base64()) {
    done.etag = found->second.etag;
    done.crc64nvme = found->second.crc64nvme;
    tools_.counters.bytes_done += part.length;
  } else {
    LEAT_CO_TRY(done,
                co_await s3client::upload_part(tools_.client, upload_, number, bytes, checksum));
    tools_.counters.moved(part.length);
  }
  tools_.counters.files_done += files;
  pieces_[index].emplace(std::move(done), checksum);
  co_return Status{};
}

void ShardSender::join_checksums() {
  for (std::uint32_t i = 0; i < plan_.count; ++i) {
    const hash::ChecksumValue& sum = pieces_[i]->checksum;
    whole_ = whole_ ? hash::combine(*whole_, sum, plan_.part(i).length) : sum;
  }
}

rt::Task<void> ShardSender::finish() {
  std::vector<s3client::PartDone> parts;
  for (auto& piece : pieces_)
    parts.push_back(std::move(piece->done));
  LEAT_CO_DO(co_await s3client::complete_upload(tools_.client, upload_, std::move(parts), whole_));
  co_return Status{};
}

rt::Task<void> ShardSender::forget() {
  const auto path = state_file();
  if (!path) co_return Status{};
  auto remove = [&disk = tools_.disk, path = *path] { return disk.remove(path); };
  auto removing = tools_.pool.run<void>(std::move(remove));
  // It may never have been written; if it stays, the service says that the upload is over.
  const Status removed = co_await std::move(removing);
  (void)removed;
  co_return Status{};
}

}  // namespace leat::ingest
