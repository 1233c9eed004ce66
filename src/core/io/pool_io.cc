#include "io/pool_io.h"

namespace leat::io {

rt::Task<std::size_t> PoolIo::read_at(const File& file, std::uint64_t offset, MutableBytes target) {
  return pool_.run<std::size_t>([&file, offset, target] { return file.read_at(offset, target); });
}

rt::Task<void> PoolIo::write_at(File& file, std::uint64_t offset, Bytes source) {
  return pool_.run<void>([&file, offset, source] { return file.write_all_at(offset, source); });
}

rt::Task<void> PoolIo::sync_data(File& file) {
  return pool_.run<void>([&file] { return file.sync_data(); });
}

rt::Task<void> PoolIo::write_and_sync(File& file, std::uint64_t offset, Bytes source,
                                      Status& synced) {
  synced = Status{};
  return pool_.run<void>([&file, offset, source, &synced]() -> Status {
    LEAT_DO(file.write_all_at(offset, source));
    synced = file.sync_data();
    return {};
  });
}

}  // namespace leat::io
