#include "segment/segment_folder.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace leat::segment {
namespace {

constexpr std::string_view kSuffix = ".seg";
constexpr std::size_t kDigits = 16;

}  // namespace

std::string SegmentFolder::path(record::SegmentId segment) const {
  return fmt::format("{}/{:016x}{}", folder_, segment.value(), kSuffix);
}

Result<std::vector<record::SegmentId>> SegmentFolder::list() const {
  LEAT_TRY(const auto names, disk_.list(folder_));
  std::vector<record::SegmentId> segments;
  for (const std::string_view name : names) {
    if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) continue;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + kDigits, number, 16);
    if (error == std::errc{} && end == name.data() + kDigits) {
      segments.emplace_back(number);
    }
  }
  return segments;
}

Result<std::unique_ptr<io::File>> SegmentFolder::create(record::SegmentId segment,
                                                        std::int64_t now_ms) {
  LEAT_TRY(auto file, disk_.open(path(segment), io::OpenMode::create));
  LEAT_DO(file->truncate(0));
  const std::string header =
      record::encode(record::SegmentHeader{.site = site(segment), .created_ms = now_ms});
  LEAT_DO(file->write_all_at(0, as_bytes(header)));
  LEAT_DO(file->sync_data());
  LEAT_DO(disk_.sync_directory(folder_));
  return file;
}

Result<std::unique_ptr<io::File>> SegmentFolder::open(record::SegmentId segment,
                                                      io::OpenMode mode) const {
  LEAT_TRY(auto file, disk_.open(path(segment), mode));
  std::array<std::byte, record::kSegmentHeaderBytes> bytes{};
  LEAT_TRY(const std::size_t got, file->read_at(0, bytes));
  LEAT_TRY(const auto header, record::decode_segment_header(Bytes(bytes).first(got)));
  if (header.site.disk != id_ || header.site.segment != segment) {
    return fail(Errc::corrupt, fmt::format("{} is another segment", path(segment)));
  }
  return file;
}

Result<std::uint64_t> SegmentFolder::size_bytes(record::SegmentId segment) const {
  LEAT_TRY(const io::FileInfo info, disk_.info(path(segment)));
  return info.size_bytes;
}

Status SegmentFolder::sync_names() {
  return disk_.sync_directory(folder_);
}

Status SegmentFolder::remove(record::SegmentId segment) {
  if (Status removed = disk_.remove(path(segment)); !removed) {
    if (removed.error().code() != Errc::not_found) return removed;
  }
  return disk_.sync_directory(folder_);
}

}  // namespace leat::segment
