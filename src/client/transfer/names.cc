#include "transfer/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hash/crc64nvme.h"

namespace leat::transfer {
namespace {

constexpr std::size_t kNameMax = 255;  // of Linux

using Type = std::pair<std::string_view, std::string_view>;
constexpr std::array kTypes = {
    Type{"bmp", "image/bmp"},         Type{"csv", "text/csv"},
    Type{"flac", "audio/flac"},       Type{"gif", "image/gif"},
    Type{"gz", "application/gzip"},   Type{"htm", "text/html"},
    Type{"html", "text/html"},        Type{"jpeg", "image/jpeg"},
    Type{"jpg", "image/jpeg"},        Type{"json", "application/json"},
    Type{"md", "text/markdown"},      Type{"mp3", "audio/mpeg"},
    Type{"mp4", "video/mp4"},         Type{"pdf", "application/pdf"},
    Type{"png", "image/png"},         Type{"svg", "image/svg+xml"},
    Type{"tar", "application/x-tar"}, Type{"tif", "image/tiff"},
    Type{"tiff", "image/tiff"},       Type{"txt", "text/plain"},
    Type{"wav", "audio/wav"},         Type{"webm", "video/webm"},
    Type{"webp", "image/webp"},       Type{"xml", "application/xml"},
    Type{"zip", "application/zip"},   Type{"zst", "application/zstd"},
};

}  // namespace

Result<std::string> file_name_of(std::string_view relative) {
  const auto refuse = [relative](std::string_view why) {
    return fail(Errc::denied, fmt::format("{}: {}; it is not fetched", relative, why));
  };
  if (relative.empty()) return refuse("a name without letters cannot be a file");
  if (relative.find('\0') != relative.npos) return refuse("a zero byte cannot be in a file name");
  if (relative.front() == '/') return refuse("an absolute name would leave the target folder");
  std::string_view rest = relative;
  while (true) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    if (part == "..") return refuse("\"..\" would leave the target folder");
    if (part == "." || part.empty()) return refuse("files cannot be told apart by \".\" or \"//\"");
    if (part.ends_with(kPartSuffix)) return refuse("files that are still arriving are called so");
    if (slash == rest.size()) break;
    rest.remove_prefix(slash + 1);
  }
  return std::string(relative);
}

std::string part_path(std::string_view path) {
  const std::string_view name = last_name(path);
  if (name.size() + kPartSuffix.size() <= kNameMax) return fmt::format("{}{}", path, kPartSuffix);
  const std::string_view folder = path.substr(0, path.size() - name.size());
  return fmt::format("{}{}-{:016x}{}", folder, name.substr(0, 200), hash::crc64nvme(as_bytes(name)),
                     kPartSuffix);
}

bool is_folder_marker(std::string_view key) {
  return key.ends_with('/');
}

std::string_view content_type_of(std::string_view name) {
  constexpr std::string_view kUnknown = "application/octet-stream";
  const std::string_view last = last_name(name);
  const std::size_t dot = last.rfind('.');
  if (dot == last.npos) return kUnknown;
  std::string ending(last.substr(dot + 1));
  std::ranges::transform(ending, ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto* const found = std::ranges::find(kTypes, ending, &Type::first);
  return found == kTypes.end() ? kUnknown : found->second;
}

std::string_view last_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string join(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

}  // namespace leat::transfer
