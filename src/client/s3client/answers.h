// The XML that S3 answers with, as values. Pure.
//
// Elements that nobody here needs are passed over: services differ in what they add.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace leat::s3client {

struct BucketItem {
  std::string name{};
  WallTime created{};
};

struct BucketPage {
  std::vector<BucketItem> buckets{};
  std::string continuation{};  // empty: no more
};

struct ListedObject {
  std::string key{};
  std::uint64_t size_bytes = 0;
  WallTime modified{};
  std::string etag{};  // without quotes
};

struct ObjectPage {
  std::vector<ListedObject> objects{};
  std::vector<std::string> groups{};  // beginnings up to the delimiter
  std::string continuation{};         // empty: no more
};

struct ListedPart {
  std::uint32_t number = 0;
  std::uint64_t size_bytes = 0;
  std::string etag{};
  std::string crc64nvme{};  // base64; empty if it is not told
};

struct PartPage {
  std::vector<ListedPart> parts{};
  std::optional<std::uint32_t> next_marker{};
};

// Where a listing of versions or of uploads goes on.
struct ListMarker {
  std::string key{};  // empty: at the beginning
  std::string id{};
};

struct ListedVersion {
  std::string key{};
  std::string id{};
};

struct VersionPage {
  std::vector<ListedVersion> versions{};  // and delete markers
  std::optional<ListMarker> next{};
};

struct UploadPage {
  std::vector<ListedVersion> uploads{};
  std::optional<ListMarker> next{};
};

struct FailedDelete {
  std::string key{};
  std::string reason{};
};

// Errors of all: io, when the answer is not what the operation answers.
Result<BucketPage> parse_buckets(std::string_view body);
// Requires: asked with encoding-type=url.
Result<ObjectPage> parse_objects(std::string_view body);
Result<PartPage> parse_parts(std::string_view body);
// Requires: asked with encoding-type=url, as parse_objects().
Result<VersionPage> parse_versions(std::string_view body);
Result<UploadPage> parse_uploads(std::string_view body);
Result<std::string> parse_upload_id(std::string_view body);
// Keys and values, in their order.
Result<std::vector<std::pair<std::string, std::string>>> parse_tags(std::string_view body);
Result<std::vector<FailedDelete>> parse_failed_deletes(std::string_view body);
// The children of the root that have text: of ListBucket's relatives, copies and completions.
// Errors: also what an <Error> in an answer of status 200 says.
Result<std::map<std::string, std::string>> parse_fields(std::string_view body);

// "2026-11-16T05:00:00.000Z"; nothing if it is no such time.
std::optional<WallTime> parse_iso_time(std::string_view text);
// To the second: "2026-11-16T05:00:00Z".
std::string iso_time(WallTime time);

std::string_view without_quotes(std::string_view etag);

}  // namespace leat::s3client
