#include "s3/versions.h"

#include <fmt/format.h>

#include "http1/date.h"
#include "s3/listing.h"
#include "xml/document.h"

namespace leat::s3 {
namespace {

using http::Response;
using record::Versioning;

constexpr std::uint64_t kVersionsMax = 1000;
// How often somebody else may be faster before we give up.
constexpr int kRaces = 10;

std::string text_of(const record::Version& version) {
  return store::to_text(store::name_of(version));
}

// The head of an answer tells of a delete marker that stands in the way.
S3Error with_marker(S3Error error, const record::Version& marker) {
  error.fields = {{"x-amz-delete-marker", "true"}, {"x-amz-version-id", text_of(marker)}};
  return error;
}

S3Result<Versioning> versioning_in(const std::string& text) {
  const auto document = xml::Document::parse(as_bytes(text));
  if (!document || document->root().name() != "VersioningConfiguration") {
    return refuse(S3Code::malformed_xml);
  }
  std::string_view status;
  const auto children = document->root().children();
  for (const xml::Element child : children) {
    if (child.name() == "Status" && status.empty()) {
      status = child.text();
    } else if (child.name() == "MfaDelete" && child.text() == "Disabled") {
      continue;
    } else if (child.name() == "MfaDelete") {
      return refuse(S3Code::not_implemented, "MFA delete is not implemented.");
    } else {
      return refuse(S3Code::malformed_xml);
    }
  }
  if (status == "Enabled") return Versioning::on;
  if (status == "Suspended") return Versioning::suspended;
  return refuse(S3Code::malformed_xml);
}

void write_item(xml::Writer& xml, const ListingForm& form, const store::VersionItem& item) {
  const record::Version& version = *item.version;
  xml.open(version.is_marker ? "DeleteMarker" : "Version");
  form.write(xml, "Key", item.name);
  xml.element("VersionId", text_of(version));
  xml.element("IsLatest", item.is_current);
  xml.element("LastModified", iso_time(version.modified_ms));
  if (!version.is_marker) write_content(xml, version);
  write_person(xml, "Owner");
  xml.close();
}

// Where a page begins: behind a key, or behind a version of one.
S3Result<store::VersionsRequest> request_in(const Call& call, const ListingForm& form,
                                            std::uint64_t max) {
  store::VersionsRequest request{
      .keys = {.bucket = call.bucket.id,
               .prefix = form.prefix,
               .delimiter = form.delimiter,
               .after = std::string(call.query("key-marker").value_or("")),
               .max = static_cast<std::size_t>(max)}};
  const std::string_view marker = call.query("version-id-marker").value_or("");
  if (marker.empty()) return request;
  if (request.keys.after.empty()) {
    return refuse(S3Code::invalid_argument,
                  "A version-id marker cannot be specified without a key marker.");
  }
  LEAT_TRY(request.after, version_name(marker));
  return request;
}

}  // namespace

S3Result<store::VersionName> version_name(std::string_view text) {
  const auto name = store::parse_version_name(text);
  if (name) return *name;
  return refuse(S3Code::invalid_argument, "Invalid version id specified");
}

S3Result<std::optional<store::VersionName>> version_in(const Call& call) {
  const auto text = call.query("versionId");
  if (!text) return std::nullopt;
  LEAT_TRY(const auto name, version_name(*text));
  return name;
}

S3Task<store::Found> find_object(Call& call, VersionOf wanted) {
  const record::ObjectKey object{.bucket = wanted.bucket.id, .key = wanted.key};
  S3Code missing = call.missing(wanted.bucket_name, wanted.key);
  if (!wanted.version) {
    auto found = co_await call.store().find(object);
    if (found) co_return std::move(*found);
    S3Error error = told(found.error(), missing);
    const bool is_told = found.error().code() == Errc::not_found && missing == S3Code::no_such_key;
    if (!is_told) co_return std::unexpected(std::move(error));
    LEAT_CO_TRY(const auto marker, told(co_await call.store().find_marker(object)));
    if (marker) error = with_marker(std::move(error), *marker);
    co_return std::unexpected(std::move(error));
  }
  if (missing == S3Code::no_such_key) missing = S3Code::no_such_version;
  auto finding = call.store().find_version(object, *wanted.version);
  LEAT_CO_TRY(store::Found found, told(co_await std::move(finding), missing));
  if (!found.version.is_marker) co_return found;
  // A marker is nobody's public object.
  if (call.only_if_public) co_return refuse(S3Code::access_denied);
  S3Error error = refuse(S3Code::method_not_allowed).error();
  error = with_marker(std::move(error), found.version);
  const WallTime time{std::chrono::milliseconds(found.version.modified_ms)};
  error.fields.emplace_back("Last-Modified", std::string(http1::DateText(time).text()));
  error.fields.emplace_back("Allow", "DELETE");
  co_return std::unexpected(std::move(error));
}

S3Task<store::Found> find_object(Call& call) {
  VersionOf wanted{
      .bucket_name = call.target.bucket, .bucket = call.bucket, .key = call.target.key};
  LEAT_CO_TRY(wanted.version, version_in(call));
  co_return co_await find_object(call, std::move(wanted));
}

S3Task<void> set_attribute(Call& call, std::string_view name, std::optional<std::string> value) {
  for (int race = 0;; ++race) {
    LEAT_CO_TRY(const store::Found found, co_await find_object(call));
    auto attributes = found.version.attributes;
    std::erase_if(attributes, [name](const auto& one) { return one.name == name; });
    if (value) attributes.push_back({.name = std::string(name), .value = *value});
    const auto revised = co_await call.store().set_attributes(found, std::move(attributes));
    if (revised) co_return S3Status{};
    // Replaced, or revised by somebody else, since it was found.
    const Errc code = revised.error().code();
    const bool is_overtaken = code == Errc::not_found || code == Errc::precondition_failed;
    if (is_overtaken && race < kRaces) continue;
    co_return std::unexpected(told(revised.error(), S3Code::no_such_key));
  }
}

void add_version_id(Response& response, const record::Bucket& bucket,
                    const record::Version& version, std::string_view field) {
  if (bucket.versioning == Versioning::off) return;
  response.add_checked(fmt::format("{}: {}\r\n", field, text_of(version)));
}

S3Task<Deleted> delete_version(Call& call, record::ObjectKey object,
                               std::optional<store::VersionName> version,
                               std::optional<std::string> etag) {
  // In a bucket that never kept any the only version is the object.
  const bool is_kept = call.bucket.versioning != Versioning::off;
  if (version && !version->is_null && !is_kept) co_return Deleted{};
  if (!version || !is_kept) {
    volume::Precondition precondition{.etag = std::move(etag)};
    auto removing = call.store().remove(std::move(object), std::move(precondition));
    const auto marker = co_await std::move(removing);
    // What is not there is deleted.
    if (!marker && marker.error().code() == Errc::not_found) co_return Deleted{};
    if (!marker) co_return std::unexpected(told(marker.error(), S3Code::no_such_key));
    if (!*marker) co_return Deleted{};
    co_return Deleted{.version = text_of(**marker), .is_marker = true};
  }
  Deleted deleted{.version = store::to_text(*version)};
  if (etag) {
    // A version never changes its bytes: what is seen of it stays true.
    const auto found = co_await call.store().find_version(object, *version);
    if (!found || found->version.etag != *etag) co_return refuse(S3Code::precondition_failed);
  }
  const auto removed = co_await call.store().remove_version(std::move(object), *version);
  if (!removed && removed.error().code() == Errc::not_found) co_return deleted;
  if (!removed) co_return std::unexpected(told(removed.error(), S3Code::no_such_version));
  deleted.is_marker = removed->is_marker;
  co_return deleted;
}

Answer get_versioning(Call& call) {
  std::string body;
  xml::Writer xml(body);
  xml.open("VersioningConfiguration", kNamespace);
  if (call.bucket.versioning != Versioning::off) {
    xml.element("Status", call.bucket.versioning == Versioning::on ? "Enabled" : "Suspended");
  }
  xml.close();
  co_return xml_answer(200, std::move(body));
}

Answer put_versioning(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const Versioning versioning, versioning_in(text));
  const auto change = [versioning](record::Bucket& bucket) { bucket.versioning = versioning; };
  auto changing = call.store().change_bucket(call.bucket.id, change);
  LEAT_CO_DO(told(co_await std::move(changing), S3Code::no_such_bucket));
  co_return Response(200);
}

Answer list_versions(Call& call) {
  LEAT_CO_TRY(const ListingForm form, listing_form(call));
  LEAT_CO_TRY(const std::uint64_t max, call.number("max-keys", kVersionsMax, kVersionsMax));
  LEAT_CO_TRY(auto request, request_in(call, form, max));
  const std::string key_marker = request.keys.after;
  auto listing = call.store().list_versions(std::move(request));
  LEAT_CO_TRY(const auto page, told(co_await std::move(listing)));
  std::string body;
  xml::Writer xml(body);
  xml.open("ListVersionsResult", kNamespace);
  xml.element("Name", call.target.bucket);
  form.write(xml, "Prefix", form.prefix);
  form.write(xml, "KeyMarker", key_marker);
  xml.element("VersionIdMarker", call.query("version-id-marker").value_or(""));
  if (page.is_truncated && !page.items.empty()) {
    const store::VersionItem& last = page.items.back();
    form.write(xml, "NextKeyMarker", last.name);
    if (last.version) xml.element("NextVersionIdMarker", text_of(*last.version));
  }
  xml.element("MaxKeys", max);
  if (!form.delimiter.empty()) form.write(xml, "Delimiter", form.delimiter);
  xml.element("IsTruncated", page.is_truncated && !page.items.empty());
  if (form.is_encoded) xml.element("EncodingType", "url");
  for (const store::VersionItem& item : page.items) {
    if (item.version) write_item(xml, form, item);
  }
  for (const store::VersionItem& item : page.items) {
    if (!item.version) form.write_group(xml, item.name);
  }
  xml.close();
  co_return xml_answer(200, std::move(body));
}

}  // namespace leat::s3
