#include "http1/media_type.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace leat::http1 {
namespace {

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

std::string_view media_type_of(std::string_view name) {
  constexpr std::string_view kUnknown = "application/octet-stream";
  const std::string_view last = name.substr(name.rfind('/') + 1);
  const std::size_t dot = last.rfind('.');
  if (dot == last.npos) return kUnknown;
  std::string ending(last.substr(dot + 1));
  std::ranges::transform(ending, ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto* const found = std::ranges::find(kTypes, ending, &Type::first);
  return found == kTypes.end() ? kUnknown : found->second;
}

}  // namespace leat::http1
