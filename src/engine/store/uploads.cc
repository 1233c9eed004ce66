// Multipart uploads through the store: all parts of one lie on the disk that was chosen when it
// began.
#include <algorithm>

#include "store/shard_store.h"
#include "store/shards.h"

namespace leat::store {

rt::Task<record::Upload> ShardStore::begin_upload(record::ObjectKey object,
                                                  std::vector<record::Attribute> attributes) {
  LEAT_CO_DO(check_key(object));
  LEAT_CO_TRY(const DoorPtr door, co_await door_for(object));
  LEAT_CO_TRY(const auto inside, door->enter());
  record::Upload upload{.id = record::UploadId(kit_.rng.next() | 1),
                        .object = std::move(object),
                        .begun_ms = now_ms(),
                        .attributes = std::move(attributes)};
  auto begun = at_home<void>(
      door, [&upload](volume::Volume& volume) { return volume.begin_upload(upload); });
  LEAT_CO_DO(co_await std::move(begun));
  co_return upload;
}

rt::Task<ShardStore::UploadAt> ShardStore::look_for_upload(record::ObjectKey object,
                                                           record::UploadId upload) {
  LEAT_CO_DO(check_key(object));
  const std::vector<DoorPtr> order = ranked(object);
  for (const DoorPtr& door : order) {
    LEAT_CO_TRY(const auto inside, door->enter());
    const index::Index& index = door->volume().index();
    using Maybe = std::optional<record::Upload>;
    auto looked = kit_.pool.run<Maybe>(
        [&index, &object, upload] { return index.find_upload(object, upload); });
    LEAT_CO_TRY(Maybe found, co_await std::move(looked));
    if (found) co_return UploadAt{.upload = std::move(*found), .door = door};
  }
  co_return fail(Errc::not_found, "no such upload");
}

rt::Task<DoorPtr> ShardStore::door_of_upload(record::ObjectKey object, record::UploadId upload) {
  LEAT_CO_TRY(UploadAt found, co_await look_for_upload(std::move(object), upload));
  co_return std::move(found.door);
}

rt::Task<record::Upload> ShardStore::find_upload(record::ObjectKey object,
                                                 record::UploadId upload) {
  LEAT_CO_TRY(UploadAt found, co_await look_for_upload(std::move(object), upload));
  co_return std::move(found.upload);
}

rt::Task<std::unique_ptr<Put>> ShardStore::begin_part(record::ObjectKey object,
                                                      record::UploadId upload,
                                                      std::uint32_t number) {
  LEAT_CO_TRY(DoorPtr door, co_await door_of_upload(object, upload));
  Put::Target target{.object = std::move(object),
                     .door = std::move(door),
                     .upload = upload,
                     .part = number,
                     .is_large = true};
  co_return co_await open_put(std::move(target));
}

rt::Task<record::Version> ShardStore::complete_upload(volume::Completion completion,
                                                      volume::Precondition precondition) {
  const record::ObjectKey object = completion.object;
  LEAT_CO_TRY(const DoorPtr door, co_await door_of_upload(object, completion.upload));
  LEAT_CO_TRY(auto pass, door->enter());
  const auto inside = std::make_shared<const rt::Gate::Pass>(std::move(pass));
  // Trying again would not help, so it is not busy.
  const auto current = co_await find(object);
  if (current && current->disk != door->id()) {
    co_return fail(Errc::conflict,
                   "the object came to another disk while it was uploaded; remove it, or abort the "
                   "upload and begin anew");
  }
  completion.modified_ms = now_ms();
  volume::FileWriter index_files(door->volume(), kit_, object, inside);
  LEAT_CO_DO(co_await index_parts(*door, completion, index_files));
  auto completed =
      change<record::Version>(object, door, [&completion, &precondition](volume::Volume& volume) {
        return volume.complete_upload(std::move(completion), std::move(precondition));
      });
  auto version = co_await std::move(completed);
  if (!version && was_not_written(version.error())) index_files.abandon();
  co_return version;
}

rt::Task<void> ShardStore::index_parts(Door& door, volume::Completion& completion,
                                       volume::FileWriter& writer) {
  const index::Index& index = door.volume().index();
  using Parts = std::vector<record::Part>;
  const record::UploadId upload = completion.upload;
  auto looked = kit_.pool.run<Parts>([&index, upload] { return index.find_parts(upload); });
  LEAT_CO_TRY(const Parts parts, co_await std::move(looked));
  record::Version whole;
  std::vector<record::FileExtent> files;
  for (volume::PartChoice& choice : completion.parts) {
    const auto part = std::ranges::find(parts, choice.number, &record::Part::number);
    // The volume says what is wrong.
    if (part == parts.end()) co_return Status{};
    if (!choice.etag.empty() && part->content.etag != choice.etag) co_return Status{};
    // A part that is sent again from now on is another one than what was looked at.
    choice.etag = part->content.etag;
    const auto& extents = std::get<std::vector<record::FileExtent>>(part->content.place);
    files.insert(files.end(), extents.begin(), extents.end());
    whole.size_bytes += part->content.size_bytes;
  }
  whole.place = std::move(files);
  shard::ShardScanner scanner;
  const Status scanned = co_await scan_files(door.reader(), whole, scanner);
  if (!scanned) {
    const Status why = co_await door.reader().explain(completion.object, whole, scanned.error());
    door.note_unread(completion.object, {}, why.error());
    co_return fail(why.error());
  }
  const shard::Summary seen = scanner.finish();
  note_shard(completion.attributes, seen);
  if (!seen.is_shard) co_return Status{};
  const std::string bytes = scanner.take_index();
  LEAT_CO_DO(co_await writer.append_appendix(as_bytes(bytes)));
  LEAT_CO_TRY(completion.appendix, co_await writer.finish());
  co_return Status{};
}

rt::Task<void> ShardStore::abort_upload(record::ObjectKey object, record::UploadId upload) {
  LEAT_CO_TRY(const DoorPtr door, co_await door_of_upload(object, upload));
  LEAT_CO_TRY(const auto inside, door->enter());
  auto aborted = at_home<void>(door, [&object, upload](volume::Volume& volume) {
    return volume.abort_upload(object, upload);
  });
  co_return co_await std::move(aborted);
}

rt::Task<std::vector<record::Part>> ShardStore::list_parts(record::ObjectKey object,
                                                           record::UploadId upload) {
  LEAT_CO_TRY(const DoorPtr door, co_await door_of_upload(std::move(object), upload));
  LEAT_CO_TRY(const auto inside, door->enter());
  const index::Index& index = door->volume().index();
  using Parts = std::vector<record::Part>;
  auto looked = kit_.pool.run<Parts>([&index, upload] { return index.find_parts(upload); });
  co_return co_await std::move(looked);
}

rt::Task<std::vector<record::Upload>> ShardStore::list_uploads(index::UploadsRequest request) {
  using Uploads = std::vector<record::Upload>;
  Uploads all;
  const std::vector<DoorPtr> doors = doors_;
  for (const DoorPtr& door : doors) {
    LEAT_CO_TRY(const auto inside, door->enter());
    const index::Index& index = door->volume().index();
    auto looked =
        kit_.pool.run<Uploads>([&index, &request] { return index.list_uploads(request); });
    LEAT_CO_TRY(Uploads some, co_await std::move(looked));
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  std::ranges::sort(all, [](const record::Upload& a, const record::Upload& b) {
    if (a.object.key != b.object.key) return a.object.key < b.object.key;
    return a.id.value() < b.id.value();
  });
  if (all.size() > request.max) all.resize(request.max);
  co_return all;
}

}  // namespace leat::store
