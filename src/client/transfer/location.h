// Location: what a user writes for a file, an object or a stream. Pure.
//
//   photos/cat.jpg            an object, or the beginning of several
//   s3://photos/cat.jpg       the same
//   leat://host:9000/photos/cat.jpg   the same on the node at host:9000
//   ./cat.jpg  /a/b  ~/a      files; they start with '.', '/' or '~'
//   -                         standard input or output
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "s3client/s3client.h"

namespace leat::transfer {

struct Location {
  enum class Kind : std::uint8_t { object, file, stream };
  Kind kind = Kind::object;
  s3client::ObjectName object{};
  std::string path{};      // of a file
  std::string endpoint{};  // of leat://; empty: the usual one

  bool is_object() const { return kind == Kind::object; }
  bool is_file() const { return kind == Kind::file; }
  bool is_stream() const { return kind == Kind::stream; }
  // As a user would write it.
  std::string text() const;
};

// `home` replaces a '~'. Errors: bad_request.
Result<Location> parse_location(std::string_view text, std::string_view home);
// Where only a file or '-' can be meant: "photos" is ./photos.
Location parse_file(std::string_view text, std::string_view home);
// Where only an object can be meant. Errors: bad_request.
Result<Location> parse_object(std::string_view text);

// "photos/2026" and "photos/2026/" both name what is below that folder: "2026/"; a bucket names all
// of it: "".
std::string folder_prefix(const s3client::ObjectName& name);

}  // namespace leat::transfer
