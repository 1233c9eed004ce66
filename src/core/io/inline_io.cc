#include "io/file_io.h"

namespace leat::io {

rt::Task<std::size_t> InlineIo::read_at(const File& file, std::uint64_t offset,
                                        MutableBytes target) {
  co_return file.read_at(offset, target);
}

rt::Task<void> InlineIo::write_at(File& file, std::uint64_t offset, Bytes source) {
  co_return file.write_all_at(offset, source);
}

rt::Task<void> InlineIo::sync_data(File& file) {
  co_return file.sync_data();
}

}  // namespace leat::io
