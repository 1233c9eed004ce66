#include "transfer/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "hash/crc64nvme.h"

namespace leat::transfer {
namespace {

constexpr std::size_t kNameMax = 255;  // of Linux

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
