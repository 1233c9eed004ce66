#include "transfer/location.h"

#include <fmt/format.h>

namespace leat::transfer {
namespace {

constexpr std::string_view kS3 = "s3://";
constexpr std::string_view kLeat = "leat://";

}  // namespace

std::string Location::text() const {
  switch (kind) {
    case Kind::stream: return "-";
    case Kind::file: return path;
    case Kind::object: break;
  }
  return object.text();
}

Location parse_file(std::string_view text, std::string_view home) {
  Location location{.kind = Location::Kind::file};
  if (text == "-") {
    location.kind = Location::Kind::stream;
  } else if (text == "~" || text.starts_with("~/")) {
    location.path = fmt::format("{}{}", home, text.substr(1));
  } else {
    location.path = text;
  }
  return location;
}

Result<Location> parse_object(std::string_view text) {
  Location location;
  std::string_view rest = text;
  if (rest.starts_with(kLeat)) {
    rest.remove_prefix(kLeat.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    location.endpoint = fmt::format("http://{}", rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  } else if (rest.starts_with(kS3)) {
    rest.remove_prefix(kS3.size());
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  location.object.bucket = rest.substr(0, slash);
  location.object.key = rest.substr(std::min(slash + 1, rest.size()));
  const std::string& bucket = location.object.bucket;
  if (bucket.ends_with(':')) {
    return fail(
        Errc::bad_request,
        fmt::format("{}: expected BUCKET/KEY, s3://BUCKET/KEY or leat://HOST:PORT/BUCKET/KEY",
                    text));
  }
  if (bucket.empty() || bucket.front() == '.' || bucket.front() == '~' || bucket == "-") {
    return fail(Errc::bad_request,
                fmt::format("{} names no object: expected BUCKET or BUCKET/KEY", text));
  }
  return location;
}

Result<Location> parse_location(std::string_view text, std::string_view home) {
  if (text.empty()) return fail(Errc::bad_request, "an empty path names nothing");
  const char first = text.front();
  if (text == "-" || first == '.' || first == '/' || first == '~') return parse_file(text, home);
  return parse_object(text);
}

std::string folder_prefix(const s3client::ObjectName& name) {
  if (name.key.empty() || name.key.ends_with('/')) return name.key;
  return name.key + '/';
}

}  // namespace leat::transfer
