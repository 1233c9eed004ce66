#include "io/file_io.h"

namespace leat::io {

rt::Task<void> FileIo::write_and_sync(File& file, std::uint64_t offset, Bytes source,
                                      Status& synced) {
  synced = Status{};
  LEAT_CO_DO(co_await write_at(file, offset, source));
  synced = co_await sync_data(file);
  co_return Status{};
}

}  // namespace leat::io
