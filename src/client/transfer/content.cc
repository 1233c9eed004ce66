#include "transfer/content.h"

#include <fmt/format.h>

#include "base/encoding.h"

namespace leat::transfer {
namespace {

constexpr std::size_t kPieceBytes = 1 * kMiB;

// Calls `take` with all bytes of a file, in order. Blocks.
template <class Take>
Status read_through(const io::File& file, std::uint64_t size, Take take) {
  std::vector<std::byte> piece(std::min<std::uint64_t>(size, kPieceBytes));
  for (std::uint64_t at = 0; at < size;) {
    const MutableBytes room(piece.data(), std::min<std::uint64_t>(piece.size(), size - at));
    LEAT_TRY(const std::size_t count, file.read_at(at, room));
    if (count == 0) return fail(Errc::conflict, "the file became shorter while it was read");
    take(Bytes(room).first(count));
    at += count;
  }
  return {};
}

bool is_md5(std::string_view etag) {
  return etag.size() == 32 && from_hex(etag).has_value();
}

}  // namespace

rt::Task<OpenFile> open_file(Tools& tools, std::string path) {
  auto work = [&disk = tools.disk, path = std::move(path)]() -> Result<OpenFile> {
    LEAT_TRY(std::shared_ptr<io::File> file, disk.open(path, io::OpenMode::read));
    LEAT_TRY(const io::FileInfo info, file->info());
    if (info.is_directory) return fail(Errc::bad_request, fmt::format("{} is a folder", path));
    return OpenFile{std::move(file), info};
  };
  return tools.pool.run<OpenFile>(std::move(work));
}

rt::Task<hash::ChecksumValue> checksum_of(Tools& tools, const io::File& file, std::uint64_t size,
                                          hash::ChecksumAlgorithm algorithm) {
  auto work = [&file, size, algorithm]() -> Result<hash::ChecksumValue> {
    hash::Checksum checksum(algorithm);
    LEAT_DO(read_through(file, size, [&checksum](Bytes bytes) { checksum.update(bytes); }));
    return checksum.finish();
  };
  return tools.pool.run<hash::ChecksumValue>(std::move(work));
}

bool is_same_version(const io::FileInfo& one, const io::FileInfo& other) {
  return one.inode == other.inode && one.size_bytes == other.size_bytes &&
         one.changed == other.changed;
}

rt::Task<bool> has_content(Tools& tools, OpenFile open, const s3client::ObjectHead& head) {
  if (open.info.size_bytes != head.size_bytes) co_return false;
  if (head.checksum) {
    const auto algorithm = head.checksum->algorithm();
    LEAT_CO_TRY(const auto found,
                co_await checksum_of(tools, *open.file, head.size_bytes, algorithm));
    co_return found == *head.checksum;
  }
  if (!is_md5(head.etag)) co_return false;
  auto work = [&file = *open.file, size = head.size_bytes]() -> Result<std::string> {
    hash::Md5 digest;
    LEAT_DO(read_through(file, size, [&digest](Bytes bytes) { digest.update(bytes); }));
    return to_hex(digest.finish());
  };
  auto hashing = tools.pool.run<std::string>(std::move(work));
  LEAT_CO_TRY(const std::string md5, co_await std::move(hashing));
  co_return md5 == head.etag;
}

}  // namespace leat::transfer
