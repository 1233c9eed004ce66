// Listings of objects, version 1 and 2.
#include "s3/listing.h"

#include <fmt/format.h>

#include "http1/uri.h"
#include "s3/attributes.h"

namespace leat::s3 {
namespace {

constexpr std::uint64_t kKeysMax = 1000;

void write_object(xml::Writer& xml, const ListingForm& form, const index::ListItem& item,
                  bool with_owner) {
  const record::Version& version = *item.version;
  xml.open("Contents");
  form.write(xml, "Key", item.name);
  xml.element("LastModified", iso_time(version.modified_ms));
  write_content(xml, version);
  if (with_owner) write_person(xml, "Owner");
  xml.close();
}

void write_items(xml::Writer& xml, const ListingForm& form, const index::ListPage& page,
                 bool with_owner) {
  for (const index::ListItem& item : page.items) {
    if (item.version) write_object(xml, form, item, with_owner);
  }
  for (const index::ListItem& item : page.items) {
    if (!item.version) form.write_group(xml, item.name);
  }
}

S3Task<index::ListPage> find_page(Call& call, const ListingForm& form, std::string after,
                                  std::uint64_t max) {
  index::ListRequest request{.bucket = call.bucket.id,
                             .prefix = form.prefix,
                             .delimiter = form.delimiter,
                             .after = std::move(after),
                             .max = static_cast<std::size_t>(max)};
  auto listing = call.store().list(std::move(request));
  co_return told(co_await std::move(listing));
}

}  // namespace

std::string ListingForm::shown(std::string_view name) const {
  return is_encoded ? http1::percent_encode(name, http1::Slash::keep) : std::string(name);
}

void ListingForm::write(xml::Writer& xml, std::string_view name, std::string_view text) const {
  xml.element(name, std::string_view(shown(text)));
}

void ListingForm::write_group(xml::Writer& xml, std::string_view group) const {
  xml.open("CommonPrefixes");
  write(xml, "Prefix", group);
  xml.close();
}

S3Result<ListingForm> listing_form(const Call& call) {
  ListingForm form{.prefix = std::string(call.query("prefix").value_or("")),
                   .delimiter = std::string(call.query("delimiter").value_or(""))};
  const auto encoding = call.query("encoding-type");
  if (encoding && !encoding->empty() && *encoding != "url") {
    return refuse(S3Code::invalid_argument, "Invalid Encoding Method specified in Request");
  }
  form.is_encoded = encoding == "url";
  return form;
}

void write_content(xml::Writer& xml, const record::Version& version) {
  xml.element("ETag", fmt::format("\"{}\"", version.etag));
  if (const auto checksum = checksum_of(version.attributes)) {
    xml.element("ChecksumAlgorithm", hash::word_of(checksum->algorithm));
    if (const auto type = find_attribute(version.attributes, kChecksumType)) {
      xml.element("ChecksumType", *type);
    }
  }
  xml.element("Size", version.size_bytes);
  xml.element("StorageClass", "STANDARD");
}

void write_person(xml::Writer& xml, std::string_view name) {
  xml.open(name);
  xml.element("ID", kOwner);
  xml.element("DisplayName", kOwner);
  xml.close();
}

Answer list_objects(Call& call) {
  LEAT_CO_TRY(const ListingForm form, listing_form(call));
  LEAT_CO_TRY(const std::uint64_t max, call.number("max-keys", kKeysMax, kKeysMax));
  const std::string marker(call.query("marker").value_or(""));
  LEAT_CO_TRY(const auto page, co_await find_page(call, form, marker, max));
  std::string body;
  xml::Writer xml(body);
  xml.open("ListBucketResult", kNamespace);
  xml.element("Name", call.target.bucket);
  form.write(xml, "Prefix", form.prefix);
  form.write(xml, "Marker", marker);
  if (page.is_truncated && !form.delimiter.empty()) {
    form.write(xml, "NextMarker", page.items.back().name);
  }
  xml.element("MaxKeys", max);
  if (!form.delimiter.empty()) form.write(xml, "Delimiter", form.delimiter);
  xml.element("IsTruncated", page.is_truncated);
  if (form.is_encoded) xml.element("EncodingType", "url");
  write_items(xml, form, page, /*with_owner=*/true);
  xml.close();
  co_return xml_answer(200, std::move(body));
}

Answer list_objects_v2(Call& call) {
  LEAT_CO_TRY(const ListingForm form, listing_form(call));
  LEAT_CO_TRY(const std::uint64_t max, call.number("max-keys", kKeysMax, kKeysMax));
  const auto token = call.query("continuation-token");
  const auto start_after = call.query("start-after");
  std::string after(start_after.value_or(""));
  if (token && !token->empty()) {
    LEAT_CO_TRY(after, open_token(call, *token));
  }
  LEAT_CO_TRY(const auto page, co_await find_page(call, form, after, max));
  std::string body;
  xml::Writer xml(body);
  xml.open("ListBucketResult", kNamespace);
  xml.element("Name", call.target.bucket);
  form.write(xml, "Prefix", form.prefix);
  if (token) xml.element("ContinuationToken", *token);
  if (page.is_truncated) {
    xml.element("NextContinuationToken", seal_token(call, page.items.back().name));
  }
  if (start_after) form.write(xml, "StartAfter", *start_after);
  xml.element("KeyCount", std::uint64_t{page.items.size()});
  xml.element("MaxKeys", max);
  if (!form.delimiter.empty()) form.write(xml, "Delimiter", form.delimiter);
  xml.element("IsTruncated", page.is_truncated);
  if (form.is_encoded) xml.element("EncodingType", "url");
  write_items(xml, form, page, call.query("fetch-owner") == "true");
  xml.close();
  co_return xml_answer(200, std::move(body));
}

}  // namespace leat::s3
