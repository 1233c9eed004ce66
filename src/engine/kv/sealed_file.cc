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

}  // namespace

bool is_sealed(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "CURRENT" || name == "IDENTITY" || name.starts_with("MANIFEST-") ||
         name.ends_with(".dbtmp");
}

Result<std::string> read_sealed(io::Disk& disk, const std::string& path) {
  LEAT_TRY(const auto file, disk.open(path, io::OpenMode::read));
  LEAT_TRY(const io::FileInfo info, file->info());
  if (info.size_bytes < kSealBytes || info.size_bytes > kContentBytesMax) {
    return fail(Errc::corrupt, fmt::format("{}: has {} bytes", path, info.size_bytes));
  }
  std::string content(info.size_bytes, '\0');
  LEAT_TRY(const std::size_t count, file->read_at(0, std::as_writable_bytes(std::span(content))));
  const std::string seal = content.substr(content.size() - kSealBytes);
  content.resize(content.size() - kSealBytes);
  if (count != info.size_bytes || seal != make_seal(content)) {
    return fail(Errc::corrupt, fmt::format("{}: the content is not what was sealed", path));
  }
  return content;
}

std::unique_ptr<rocksdb::FSSequentialFile> make_sealed_reader(std::string content) {
  return std::make_unique<SealedReader>(std::move(content));
}

std::unique_ptr<rocksdb::FSWritableFile> make_sealed_writer(std::unique_ptr<io::File> file) {
  return std::make_unique<SealedWriter>(std::move(file));
}

}  // namespace leat::kv
