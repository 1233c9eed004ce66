#include "kv/sealed_file.h"

#include <fmt/format.h>
#include <rocksdb/file_checksum.h>

#include <algorithm>
#include <cstring>

#include "kv/status.h"

namespace leat::kv {
namespace {

constexpr std::string_view kMark = "leatseal";

// Far more than the names of all files of the largest map; a larger one is damage.
constexpr std::uint64_t kContentBytesMax = 256 * kMiB;

// Of a table: its properties, the list of such blocks and the footer, with much to spare.
constexpr std::uint64_t kTailBytes = 8 * kKiB;

std::string crc_of(std::string_view content) {
  const auto generator = rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator(
      {.file_name = "", .requested_checksum_func_name = ""});
  generator->Update(content.data(), content.size());
  generator->Finalize();
  std::string crc = generator->GetChecksum();
  std::ranges::reverse(crc);  // it comes with the highest byte first
  return crc;
}

std::string make_seal(std::string_view content) {
  std::string seal(kMark);
  for (unsigned shift = 0; shift < 32; shift += 8) {
    seal.push_back(static_cast<char>((content.size() >> shift) & 0xff));
  }
  return seal + crc_of(content);
}

class SealedReader final : public rocksdb::FSSequentialFile {
 public:
  explicit SealedReader(std::string content) : content_(std::move(content)) {}

  rocksdb::IOStatus Read(std::size_t n, const rocksdb::IOOptions&, rocksdb::Slice* result,
                         char* scratch, rocksdb::IODebugContext*) override {
    const std::size_t count = std::min(n, content_.size() - at_);
    std::memcpy(scratch, content_.data() + at_, count);
    *result = rocksdb::Slice(scratch, count);
    at_ += count;
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus Skip(std::uint64_t n) override {
    at_ += std::min<std::uint64_t>(n, content_.size() - at_);
    return rocksdb::IOStatus::OK();
  }

 private:
  const std::string content_;
  std::size_t at_ = 0;
};

class SealedWriter final : public rocksdb::FSWritableFile {
 public:
  explicit SealedWriter(std::unique_ptr<io::File> file) : file_(std::move(file)) {}

  using rocksdb::FSWritableFile::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& bytes, const rocksdb::IOOptions&,
                           rocksdb::IODebugContext*) override {
    content_.append(bytes.data(), bytes.size());
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return to_io_status(store());
  }

  rocksdb::IOStatus Flush(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus Close(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    file_.reset();
    return rocksdb::IOStatus::OK();
  }

  std::uint64_t GetFileSize(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return content_.size();
  }

 private:
  Status store() {
    LEAT_DO(file_->write_all_at(0, as_bytes(content_ + make_seal(content_))));
    return file_->sync_data();
  }

  std::unique_ptr<io::File> file_;
  std::string content_;
};

// Appends as the kernel does, and remembers the end for the seal.
class TableWriter final : public rocksdb::FSWritableFile {
 public:
  explicit TableWriter(std::unique_ptr<io::File> file) : file_(std::move(file)) {}

  using rocksdb::FSWritableFile::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& bytes, const rocksdb::IOOptions&,
                           rocksdb::IODebugContext*) override {
    return to_io_status(append({bytes.data(), bytes.size()}));
  }

  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return to_io_status(sync());
  }

  // RocksDB has its own buffer above, and the bytes are the kernel's at once.
  rocksdb::IOStatus Flush(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus Close(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    file_.reset();
    return rocksdb::IOStatus::OK();
  }

  std::uint64_t GetFileSize(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return size_bytes_;
  }

 private:
  Status append(std::string_view bytes) {
    LEAT_DO(file_->write_all_at(size_bytes_, as_bytes(bytes)));
    size_bytes_ += bytes.size();
    if (bytes.size() > kTailBytes) bytes.remove_prefix(bytes.size() - kTailBytes);
    tail_.append(bytes);
    if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
    return {};
  }

  Status sync() {
    LEAT_DO(file_->write_all_at(size_bytes_, as_bytes(make_seal(tail_))));
    return file_->sync_data();
  }

  std::unique_ptr<io::File> file_;
  std::uint64_t size_bytes_ = 0;
  std::string tail_;
};

// The bytes from `offset` to the end, without the seal, which fits to them.
Result<std::string> read_end(const io::File& file, const std::string& path, std::uint64_t offset,
                             std::uint64_t size_bytes) {
  std::string content(size_bytes - offset, '\0');
  LEAT_TRY(const std::size_t count,
           file.read_at(offset, std::as_writable_bytes(std::span(content))));
  const std::string seal = content.substr(content.size() - kSealBytes);
  content.resize(content.size() - kSealBytes);
  if (count != size_bytes - offset || seal != make_seal(content)) {
    return fail(Errc::corrupt, fmt::format("{}: the content is not what was sealed", path));
  }
  return content;
}

}  // namespace

bool is_sealed(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "CURRENT" || name == "IDENTITY" || name.starts_with("MANIFEST-") ||
         name.ends_with(".dbtmp");
}

bool is_table(std::string_view path) {
  return path.ends_with(".sst");
}

Result<std::string> read_sealed(io::Disk& disk, const std::string& path) {
  LEAT_TRY(const auto file, disk.open(path, io::OpenMode::read));
  LEAT_TRY(const io::FileInfo info, file->info());
  if (info.size_bytes < kSealBytes || info.size_bytes > kContentBytesMax) {
    return fail(Errc::corrupt, fmt::format("{}: has {} bytes", path, info.size_bytes));
  }
  return read_end(*file, path, 0, info.size_bytes);
}

Status check_table(const io::File& file, const std::string& path) {
  LEAT_TRY(const io::FileInfo info, file.info());
  if (info.size_bytes < kSealBytes) {
    return fail(Errc::corrupt, fmt::format("{}: has {} bytes", path, info.size_bytes));
  }
  const std::uint64_t end_bytes = std::min(info.size_bytes, kTailBytes + kSealBytes);
  LEAT_DO(read_end(file, path, info.size_bytes - end_bytes, info.size_bytes));
  return {};
}

std::unique_ptr<rocksdb::FSSequentialFile> make_sealed_reader(std::string content) {
  return std::make_unique<SealedReader>(std::move(content));
}

std::unique_ptr<rocksdb::FSWritableFile> make_sealed_writer(std::unique_ptr<io::File> file) {
  return std::make_unique<SealedWriter>(std::move(file));
}

std::unique_ptr<rocksdb::FSWritableFile> make_table_writer(std::unique_ptr<io::File> file) {
  return std::make_unique<TableWriter>(std::move(file));
}

}  // namespace leat::kv
