#include "s3client/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "http1/grammar.h"
#include "http1/uri.h"
#include "s3client/refusal.h"
#include "xml/document.h"

namespace leat::s3client {
namespace {

constexpr xml::Limits kLimits = {.size_max_bytes = 16 * kMiB};

Result<xml::Document> document_of(std::string_view body, std::string_view root) {
  auto document = xml::Document::parse(as_bytes(body), kLimits);
  if (document && (root.empty() || document->root().name() == root)) return document;
  return fail(Errc::io, fmt::format("the service's answer is no {}: is it an S3 service?",
                                    root.empty() ? "XML" : root));
}

std::string text_of(xml::Element parent, std::string_view name) {
  const auto children = parent.children();
  for (const xml::Element child : children) {
    if (child.name() == name) return std::string(child.text());
  }
  return {};
}

// AWS and MinIO write a space as '+', as forms do. A plus is %2B with them and with Leat.
Result<std::string> decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto key = http1::percent_decode(spaced);
  if (!key) return fail(Errc::io, fmt::format("the service names a key badly: {}", text));
  return key;
}

WallTime time_in(xml::Element parent, std::string_view name) {
  return parse_iso_time(text_of(parent, name)).value_or(WallTime{});
}

Result<ListedObject> object_in(xml::Element contents) {
  ListedObject object;
  LEAT_TRY(object.key, decoded(text_of(contents, "Key")));
  object.size_bytes = http1::parse_decimal(text_of(contents, "Size")).value_or(0);
  object.modified = time_in(contents, "LastModified");
  object.etag = without_quotes(text_of(contents, "ETag"));
  return object;
}

Result<ListedVersion> identified_in(xml::Element item, std::string_view id) {
  ListedVersion listed{.id = text_of(item, id)};
  LEAT_TRY(listed.key, decoded(text_of(item, "Key")));
  return listed;
}

Result<std::optional<ListMarker>> next_in(xml::Element root, std::string_view id) {
  if (text_of(root, "IsTruncated") != "true") return std::optional<ListMarker>();
  ListMarker marker{.id = text_of(root, id)};
  LEAT_TRY(marker.key, decoded(text_of(root, "NextKeyMarker")));
  if (!marker.key.empty()) return std::optional(std::move(marker));
  return fail(Errc::io, "the service's listing breaks off without saying where to go on");
}

}  // namespace

std::string_view without_quotes(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    return etag.substr(1, etag.size() - 2);
  }
  return etag;
}

Result<BucketPage> parse_buckets(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, "ListAllMyBucketsResult"));
  BucketPage page;
  const auto children = document.root().children();
  for (const xml::Element child : children) {
    if (child.name() == "ContinuationToken") page.continuation = child.text();
    if (child.name() != "Buckets") continue;
    const auto buckets = child.children();
    for (const xml::Element bucket : buckets) {
      page.buckets.push_back(
          {.name = text_of(bucket, "Name"), .created = time_in(bucket, "CreationDate")});
    }
  }
  return page;
}

Result<ObjectPage> parse_objects(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, "ListBucketResult"));
  ObjectPage page;
  bool is_truncated = false;
  const auto children = document.root().children();
  for (const xml::Element child : children) {
    if (child.name() == "Contents") {
      LEAT_TRY(auto object, object_in(child));
      page.objects.push_back(std::move(object));
    } else if (child.name() == "CommonPrefixes") {
      LEAT_TRY(auto group, decoded(text_of(child, "Prefix")));
      page.groups.push_back(std::move(group));
    } else if (child.name() == "NextContinuationToken") {
      page.continuation = child.text();
    } else if (child.name() == "IsTruncated") {
      is_truncated = child.text() == "true";
    }
  }
  if (!is_truncated) page.continuation.clear();
  if (is_truncated && page.continuation.empty()) {
    return fail(Errc::io, "the service's listing breaks off without saying where to go on");
  }
  return page;
}

Result<PartPage> parse_parts(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, "ListPartsResult"));
  PartPage page;
  const auto children = document.root().children();
  for (const xml::Element child : children) {
    if (child.name() != "Part") continue;
    page.parts.push_back({.number = static_cast<std::uint32_t>(
                              http1::parse_decimal(text_of(child, "PartNumber")).value_or(0)),
                          .size_bytes = http1::parse_decimal(text_of(child, "Size")).value_or(0),
                          .etag = std::string(without_quotes(text_of(child, "ETag"))),
                          .crc64nvme = text_of(child, "ChecksumCRC64NVME")});
  }
  const auto marker = http1::parse_decimal(text_of(document.root(), "NextPartNumberMarker"));
  if (text_of(document.root(), "IsTruncated") == "true" && marker) {
    page.next_marker = static_cast<std::uint32_t>(*marker);
  }
  return page;
}

Result<VersionPage> parse_versions(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, "ListVersionsResult"));
  VersionPage page;
  const auto children = document.root().children();
  for (const xml::Element child : children) {
    if (child.name() != "Version" && child.name() != "DeleteMarker") continue;
    LEAT_TRY(auto listed, identified_in(child, "VersionId"));
    page.versions.push_back(std::move(listed));
  }
  LEAT_TRY(page.next, next_in(document.root(), "NextVersionIdMarker"));
  return page;
}

Result<UploadPage> parse_uploads(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, "ListMultipartUploadsResult"));
  UploadPage page;
  const auto children = document.root().children();
  for (const xml::Element child : children) {
    if (child.name() != "Upload") continue;
    LEAT_TRY(auto listed, identified_in(child, "UploadId"));
    page.uploads.push_back(std::move(listed));
  }
  LEAT_TRY(page.next, next_in(document.root(), "NextUploadIdMarker"));
  return page;
}

Result<std::string> parse_upload_id(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, "InitiateMultipartUploadResult"));
  std::string id = text_of(document.root(), "UploadId");
  if (id.empty()) return fail(Errc::io, "the service's answer has no UploadId");
  return id;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_tags(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, "Tagging"));
  std::vector<std::pair<std::string, std::string>> tags;
  const auto sets = document.root().children();
  for (const xml::Element set : sets) {
    if (set.name() != "TagSet") continue;
    const auto all = set.children();
    for (const xml::Element tag : all)
      tags.emplace_back(text_of(tag, "Key"), text_of(tag, "Value"));
  }
  return tags;
}

Result<std::vector<FailedDelete>> parse_failed_deletes(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, "DeleteResult"));
  std::vector<FailedDelete> failed;
  const auto children = document.root().children();
  for (const xml::Element child : children) {
    if (child.name() != "Error") continue;
    failed.push_back(
        {.key = text_of(child, "Key"),
         .reason = fmt::format("{} ({})", text_of(child, "Message"), text_of(child, "Code"))});
  }
  return failed;
}

Result<std::map<std::string, std::string>> parse_fields(std::string_view body) {
  LEAT_TRY(const auto document, document_of(body, ""));
  if (document.root().name() == "Error") {
    return fail(refusal_of({.status = 500, .body = body, .bucket = {}, .key = {}}).error);
  }
  std::map<std::string, std::string> fields;
  const auto children = document.root().children();
  for (const xml::Element child : children)
    fields.emplace(child.name(), child.text());
  return fields;
}

std::optional<WallTime> parse_iso_time(std::string_view text) {
  // 0123456789012345678
  // 2026-11-16T05:00:00
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T') return std::nullopt;
  const auto number = [text](std::size_t at, std::size_t size) {
    return http1::parse_decimal(text.substr(at, size));
  };
  const std::array fields = {number(0, 4),  number(5, 2),  number(8, 2),
                             number(11, 2), number(14, 2), number(17, 2)};
  for (const auto& field : fields) {
    if (!field) return std::nullopt;
  }
  const auto year = std::chrono::year(static_cast<int>(*fields[0]));
  const auto month = std::chrono::month(static_cast<unsigned>(*fields[1]));
  const auto day = std::chrono::day(static_cast<unsigned>(*fields[2]));
  const std::chrono::year_month_day date(year, month, day);
  if (!date.ok() || *fields[0] < 1970 || *fields[0] > 2199) return std::nullopt;
  WallTime time = std::chrono::sys_days(date);
  time += std::chrono::hours(*fields[3]) + std::chrono::minutes(*fields[4]) +
          std::chrono::seconds(*fields[5]);
  if (text.size() > 23 && text[19] == '.') {
    if (const auto ms = number(20, 3)) time += std::chrono::milliseconds(*ms);
  }
  return time;
}

std::string iso_time(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace leat::s3client
