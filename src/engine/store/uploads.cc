// Multipart uploads through the store: all parts of one lie on the disk that was chosen when it
// began.
#include "store/shard_store.h"

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
  LEAT_CO_TRY(const auto inside, door->enter());
  // Trying again would not help, so it is not busy.
  const auto current = co_await find(object);
  if (current && current->disk != door->id()) {
    co_return fail(Errc::conflict,
                   "the object came to another disk while it was uploaded; remove it, or abort the "
                   "upload and begin anew");
  }
  completion.modified_ms = now_ms();
  auto completed =
      change<record::Version>(object, door, [&completion, &precondition](volume::Volume& volume) {
        return volume.complete_upload(std::move(completion), std::move(precondition));
      });
  co_return co_await std::move(completed);
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

rt::Task<std::vector<record::Upload>> ShardStore::list_uploads(record::BucketId bucket) {
  using Uploads = std::vector<record::Upload>;
  Uploads all;
  const std::vector<DoorPtr> doors = doors_;
  for (const DoorPtr& door : doors) {
    LEAT_CO_TRY(const auto inside, door->enter());
    const index::Index& index = door->volume().index();
    auto looked = kit_.pool.run<Uploads>([&index, bucket] { return index.list_uploads(bucket); });
    LEAT_CO_TRY(Uploads some, co_await std::move(looked));
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  co_return all;
}

}  // namespace leat::store
