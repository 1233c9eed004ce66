// ListParts and ListMultipartUploads.
#include <fmt/format.h>

#include <algorithm>

#include "s3/attributes.h"
#include "s3/listing.h"
#include "s3/multipart.h"
#include "s3/parts.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

constexpr std::uint64_t kListMax = 1000;
constexpr std::size_t kLookedAtOnce = 16;  // of uploads that may be one group

void write_part(xml::Writer& xml, const record::Part& part) {
  xml.open("Part");
  xml.element("PartNumber", std::uint64_t{part.number});
  xml.element("LastModified", iso_time(part.content.modified_ms));
  xml.element("ETag", fmt::format("\"{}\"", part.content.etag));
  xml.element("Size", part.content.size_bytes);
  if (const auto checksum = checksum_of(part.content.attributes)) {
    const std::string name = checksum_element(checksum->algorithm);
    xml.element(name, checksum->text);
  }
  xml.close();
}

void write_plan(xml::Writer& xml, const ChecksumPlan& plan) {
  if (!plan.is_chosen) return;
  xml.element("ChecksumAlgorithm", hash::word_of(plan.algorithm));
  xml.element("ChecksumType", plan.is_composite ? kComposite : kFullObject);
}

// A page of uploads: by key, then by number.
struct UploadPage {
  std::vector<record::Upload> uploads{};
  std::vector<std::string> groups{};
  bool is_truncated = false;
  std::string next_key{};
  std::string next_upload{};
};

// The beginning that a key shares with others, up to the delimiter; empty without one.
std::string group_of(const ListingForm& form, const std::string& key) {
  if (form.delimiter.empty() || !key.starts_with(form.prefix)) return {};
  const std::size_t cut = key.find(form.delimiter, form.prefix.size());
  return cut == key.npos ? std::string() : key.substr(0, cut + form.delimiter.size());
}

// The first key behind all that begin so; empty if there is none.
std::string behind_group(std::string group) {
  while (!group.empty() && group.back() == '\xFF')
    group.pop_back();
  if (!group.empty()) group.back() = static_cast<char>(group.back() + 1);
  return group;
}

// Where the page begins; nothing if there can be no more.
S3Result<std::optional<index::UploadsRequest>> first_request(const Call& call,
                                                             const ListingForm& form) {
  index::UploadsRequest request{.bucket = call.bucket.id, .prefix = form.prefix};
  const std::string key(call.query("key-marker").value_or(""));
  const std::string_view id = call.query("upload-id-marker").value_or("");
  if (key.empty()) return std::optional(std::move(request));
  if (group_of(form, key) == key) {
    request.from = behind_group(key);
    if (request.from.empty()) return std::nullopt;
  } else if (id.empty()) {
    request.from = key + '\0';
  } else {
    const auto upload = upload_from(id);
    if (!upload) return refuse(S3Code::invalid_argument, "Invalid uploadId marker");
    request.from = key;
    request.behind = *upload;
  }
  return std::optional(std::move(request));
}

// In memory that does not grow with the number of uploads: groups are passed over by a jump.
S3Task<UploadPage> page_of(const Call& call, const ListingForm& form, index::UploadsRequest request,
                           std::uint64_t max) {
  UploadPage page;
  request.max = form.delimiter.empty() ? max + 1 : kLookedAtOnce;
  while (max > 0) {
    auto listing = call.store().list_uploads(request);
    LEAT_CO_TRY(auto some, told(co_await std::move(listing)));
    bool jumps = false;
    for (record::Upload& upload : some) {
      if (page.uploads.size() + page.groups.size() == max) {
        page.is_truncated = true;
        co_return page;
      }
      std::string group = group_of(form, upload.object.key);
      if (!group.empty()) {
        request.from = behind_group(group);
        request.behind = {};
        page.next_key = group;
        page.next_upload.clear();
        page.groups.push_back(std::move(group));
        jumps = true;
        break;
      }
      request.from = upload.object.key;
      request.behind = upload.id;
      page.next_key = upload.object.key;
      page.next_upload = text_of(upload.id);
      page.uploads.push_back(std::move(upload));
    }
    const bool is_over = jumps ? request.from.empty() : some.size() < request.max;
    if (is_over) break;
  }
  co_return page;
}

void write_upload(xml::Writer& xml, const ListingForm& form, const record::Upload& upload) {
  xml.open("Upload");
  form.write(xml, "Key", upload.object.key);
  xml.element("UploadId", text_of(upload.id));
  write_person(xml, "Initiator");
  write_person(xml, "Owner");
  xml.element("StorageClass", "STANDARD");
  xml.element("Initiated", iso_time(upload.begun_ms));
  xml.close();
}

}  // namespace

Answer list_parts(Call& call) {
  LEAT_CO_TRY(const record::UploadId id, upload_in(call));
  LEAT_CO_TRY(const ListingForm form, listing_form(call));
  LEAT_CO_TRY(const std::uint64_t max, call.number("max-parts", kListMax, kListMax));
  LEAT_CO_TRY(const std::uint64_t marker, call.number("part-number-marker", 0, kPartNumberMax));
  LEAT_CO_TRY(const record::Upload upload, co_await find_upload(call, id));
  LEAT_CO_TRY(const ChecksumPlan plan, checksum_plan(upload));
  LEAT_CO_TRY(auto parts, co_await find_parts(call, id));
  std::erase_if(parts, [marker](const record::Part& part) { return part.number <= marker; });
  // Who asks for none gets none; a client that went on would never come to an end.
  const bool is_truncated = max > 0 && parts.size() > max;
  if (parts.size() > max) parts.resize(max);
  std::string body;
  xml::Writer xml(body);
  xml.open("ListPartsResult", kNamespace);
  xml.element("Bucket", call.target.bucket);
  form.write(xml, "Key", call.target.key);
  xml.element("UploadId", text_of(id));
  xml.element("PartNumberMarker", marker);
  xml.element("NextPartNumberMarker",
              parts.empty() ? std::uint64_t{0} : std::uint64_t{parts.back().number});
  xml.element("MaxParts", max);
  xml.element("IsTruncated", is_truncated);
  write_plan(xml, plan);
  if (form.is_encoded) xml.element("EncodingType", "url");
  for (const record::Part& part : parts)
    write_part(xml, part);
  write_person(xml, "Initiator");
  write_person(xml, "Owner");
  xml.element("StorageClass", "STANDARD");
  xml.close();
  co_return xml_answer(200, std::move(body));
}

Answer list_uploads(Call& call) {
  LEAT_CO_TRY(const ListingForm form, listing_form(call));
  LEAT_CO_TRY(const std::uint64_t max, call.number("max-uploads", kListMax, kListMax));
  LEAT_CO_TRY(auto request, first_request(call, form));
  UploadPage page;
  if (request) {
    LEAT_CO_TRY(page, co_await page_of(call, form, std::move(*request), max));
  }
  std::string body;
  xml::Writer xml(body);
  xml.open("ListMultipartUploadsResult", kNamespace);
  xml.element("Bucket", call.target.bucket);
  form.write(xml, "KeyMarker", call.query("key-marker").value_or(""));
  xml.element("UploadIdMarker", call.query("upload-id-marker").value_or(""));
  if (page.is_truncated) {
    form.write(xml, "NextKeyMarker", page.next_key);
    xml.element("NextUploadIdMarker", page.next_upload);
  }
  form.write(xml, "Prefix", form.prefix);
  if (!form.delimiter.empty()) form.write(xml, "Delimiter", form.delimiter);
  xml.element("MaxUploads", max);
  xml.element("IsTruncated", page.is_truncated);
  if (form.is_encoded) xml.element("EncodingType", "url");
  for (const record::Upload& upload : page.uploads)
    write_upload(xml, form, upload);
  for (const std::string& group : page.groups)
    form.write_group(xml, group);
  xml.close();
  co_return xml_answer(200, std::move(body));
}

}  // namespace leat::s3
