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

// A page of uploads: by key, then by the time they began.
struct UploadPage {
  std::vector<record::Upload> uploads{};
  std::vector<std::string> groups{};
  bool is_truncated = false;
  std::string next_key{};
  std::string next_upload{};
};

struct UploadMarker {
  std::string key{};
  std::string upload{};
};

bool is_behind(const record::Upload& upload, const UploadMarker& marker) {
  if (upload.object.key != marker.key) return upload.object.key > marker.key;
  return !marker.upload.empty() && text_of(upload.id) > marker.upload;
}

UploadPage page_of(std::vector<record::Upload> all, const ListingForm& form,
                   const UploadMarker& marker, std::uint64_t max) {
  std::ranges::sort(all, [](const record::Upload& a, const record::Upload& b) {
    return std::pair(a.object.key, a.id.value()) < std::pair(b.object.key, b.id.value());
  });
  UploadPage page;
  for (record::Upload& upload : all) {
    const std::string& key = upload.object.key;
    if (!key.starts_with(form.prefix) || (!marker.key.empty() && !is_behind(upload, marker))) {
      continue;
    }
    const std::size_t cut =
        form.delimiter.empty() ? key.npos : key.find(form.delimiter, form.prefix.size());
    std::string group;
    if (cut != key.npos) group = key.substr(0, cut + form.delimiter.size());
    if (!group.empty() &&
        (group == marker.key || (!page.groups.empty() && page.groups.back() == group))) {
      continue;
    }
    if (page.uploads.size() + page.groups.size() == max) {
      page.is_truncated = max > 0;
      break;
    }
    page.next_key = group.empty() ? key : group;
    page.next_upload = group.empty() ? text_of(upload.id) : "";
    if (group.empty()) {
      page.uploads.push_back(std::move(upload));
    } else {
      page.groups.push_back(std::move(group));
    }
  }
  return page;
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
  const bool is_truncated = parts.size() > max;
  if (is_truncated) parts.resize(max);
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
  const UploadMarker marker{.key = std::string(call.query("key-marker").value_or("")),
                            .upload = std::string(call.query("upload-id-marker").value_or(""))};
  auto listing = call.store().list_uploads(call.bucket.id);
  LEAT_CO_TRY(auto all, told(co_await std::move(listing)));
  const UploadPage page = page_of(std::move(all), form, marker, max);
  std::string body;
  xml::Writer xml(body);
  xml.open("ListMultipartUploadsResult", kNamespace);
  xml.element("Bucket", call.target.bucket);
  form.write(xml, "KeyMarker", marker.key);
  xml.element("UploadIdMarker", marker.upload);
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
