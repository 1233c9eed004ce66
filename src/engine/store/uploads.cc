// Multipart uploads through the store: all parts of one lie on the disk that was chosen when it
// began.
#include "store/shard_store.h"

namespace leat::store {

rt::Task<record::Upload> ShardStore::begin_upload(record::ObjectKey object,
                                                  std::vector<record::Attribute> attributes) {
  LEAT_CO_DO(check_key(object));
  LEAT_CO_TRY(const std::size_t disk, co_await disk_for(object));
  record::Upload upload{.id = record::UploadId(kit_.rng.next() | 1),
                        .object = std::move(object),
                        .begun_ms = now_ms(),
                        .attributes = std::move(attributes)};
  auto begun = at_home<void>(
      disk, [&upload](volume::Volume& volume) { return volume.begin_upload(upload); });
  LEAT_CO_DO(co_await std::move(begun));
  co_return upload;
}

rt::Task<std::size_t> ShardStore::disk_of_upload(record::ObjectKey object,
                                                 record::UploadId upload) {
  LEAT_CO_DO(check_key(object));
  for (const std::size_t disk : store_.rank(object)) {
    const index::Index& index = store_.disks()[disk].volume->index();
    using Maybe = std::optional<record::Upload>;
    auto looked = kit_.pool.run<Maybe>(
        [&index, &object, upload] { return index.find_upload(object, upload); });
    LEAT_CO_TRY(const Maybe found, co_await std::move(looked));
    if (found) co_return disk;
  }
  co_return fail(Errc::not_found, "no such upload");
}

rt::Task<std::unique_ptr<Put>> ShardStore::begin_part(record::ObjectKey object,
                                                      record::UploadId upload,
                                                      std::uint32_t number) {
  LEAT_CO_TRY(const std::size_t disk, co_await disk_of_upload(object, upload));
  Put::Target target{.object = std::move(object),
                     .disk = disk,
                     .upload = upload,
                     .part = number,
                     .is_large = true};
  co_return std::make_unique<Put>(*this, std::move(target));
}

rt::Task<record::Version> ShardStore::complete_upload(volume::Completion completion,
                                                      volume::Precondition precondition) {
  LEAT_CO_TRY(const std::size_t disk,
              co_await disk_of_upload(completion.object, completion.upload));
  // The object may be on another disk since; then it must leave it first, or there would be two.
  const auto current = co_await find(completion.object);
  if (current && current->disk != disk) {
    co_return fail(Errc::conflict, "the object moved to another disk while it was uploaded");
  }
  completion.modified_ms = now_ms();
  auto completed =
      at_home<record::Version>(disk, [&completion, &precondition](volume::Volume& volume) {
        return volume.complete_upload(std::move(completion), std::move(precondition));
      });
  co_return co_await std::move(completed);
}

rt::Task<void> ShardStore::abort_upload(record::ObjectKey object, record::UploadId upload) {
  LEAT_CO_TRY(const std::size_t disk, co_await disk_of_upload(object, upload));
  auto aborted = at_home<void>(disk, [&object, upload](volume::Volume& volume) {
    return volume.abort_upload(object, upload);
  });
  co_return co_await std::move(aborted);
}

rt::Task<std::vector<record::Part>> ShardStore::list_parts(record::ObjectKey object,
                                                           record::UploadId upload) {
  LEAT_CO_TRY(const std::size_t disk, co_await disk_of_upload(std::move(object), upload));
  const index::Index& index = store_.disks()[disk].volume->index();
  using Parts = std::vector<record::Part>;
  auto looked = kit_.pool.run<Parts>([&index, upload] { return index.find_parts(upload); });
  co_return co_await std::move(looked);
}

rt::Task<std::vector<record::Upload>> ShardStore::list_uploads(record::BucketId bucket) {
  using Uploads = std::vector<record::Upload>;
  Uploads all;
  for (const Disk& disk : store_.disks()) {
    const index::Index& index = disk.volume->index();
    auto looked = kit_.pool.run<Uploads>([&index, bucket] { return index.list_uploads(bucket); });
    LEAT_CO_TRY(Uploads some, co_await std::move(looked));
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  co_return all;
}

}  // namespace leat::store
