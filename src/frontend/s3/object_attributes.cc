// GetObjectAttributes: what is known of an object, without its bytes.
#include <algorithm>
#include <array>

#include "http1/date.h"
#include "http1/grammar.h"
#include "s3/acl.h"
#include "s3/attributes.h"
#include "s3/multipart.h"
#include "s3/parts.h"
#include "s3/versions.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

constexpr std::uint64_t kPartsMax = 1000;
constexpr std::array<std::string_view, 5> kKnown = {"ETag", "Checksum", "ObjectParts",
                                                    "StorageClass", "ObjectSize"};

struct Wanted {
  std::vector<std::string> names{};
  std::uint64_t parts_max = kPartsMax;
  std::uint64_t behind_part = 0;

  bool has(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }
};

S3Result<std::uint64_t> number_in(const Call& call, std::string_view field,
                                  std::uint64_t otherwise) {
  const auto text = call.field(field);
  if (!text) return otherwise;
  const auto number = http1::parse_decimal(*text);
  if (number) return *number;
  return refuse(S3Code::invalid_argument, "The value of " + std::string(field) + " is not valid.");
}

// "ETag,ObjectSize". Errors: InvalidArgument.
S3Result<Wanted> wanted_in(const Call& call) {
  Wanted wanted;
  std::string_view rest = call.field("x-amz-object-attributes").value_or("");
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (name.starts_with(' '))
      name.remove_prefix(1);
    while (name.ends_with(' '))
      name.remove_suffix(1);
    if (std::ranges::find(kKnown, name) == kKnown.end()) {
      return refuse(S3Code::invalid_argument, "Invalid attribute name specified.");
    }
    wanted.names.emplace_back(name);
  }
  if (wanted.names.empty()) {
    return refuse(S3Code::invalid_request,
                  "The x-amz-object-attributes header specifying the attributes to be retrieved is "
                  "either missing or empty");
  }
  LEAT_TRY(wanted.parts_max, number_in(call, "x-amz-max-parts", kPartsMax));
  wanted.parts_max = std::min(wanted.parts_max, kPartsMax);
  LEAT_TRY(wanted.behind_part, number_in(call, "x-amz-part-number-marker", 0));
  return wanted;
}

void write_checksum(xml::Writer& xml, const Attributes& attributes) {
  const auto checksum = checksum_of(attributes);
  if (!checksum) return;
  xml.open("Checksum");
  const std::string name = checksum_element(checksum->algorithm);
  xml.element(name, checksum->text);
  xml.element("ChecksumType", find_attribute(attributes, kChecksumType).value_or(kFullObject));
  xml.close();
}

// Sizes of parts, and their checksums as far as they are kept.
void write_parts(xml::Writer& xml, std::string_view sizes, const Attributes& attributes,
                 const Wanted& wanted) {
  const std::uint64_t count = part_count(sizes);
  const std::uint64_t first = std::min(wanted.behind_part, count);
  const std::uint64_t last = std::min(first + wanted.parts_max, count);
  xml.open("ObjectParts");
  xml.element("PartsCount", count);
  xml.element("PartNumberMarker", wanted.behind_part);
  xml.element("NextPartNumberMarker", last);
  xml.element("MaxParts", wanted.parts_max);
  xml.element("IsTruncated", last < count && wanted.parts_max > 0);
  for (std::uint64_t number = first + 1; number <= last; ++number) {
    xml.open("Part");
    xml.element("PartNumber", number);
    xml.element("Size", part_place(sizes, number).length);
    if (const auto checksum = part_checksum(attributes, number)) {
      const std::string name = checksum_element(checksum_of(attributes)->algorithm);
      xml.element(name, *checksum);
    }
    xml.close();
  }
  xml.close();
}

}  // namespace

Answer get_object_attributes(Call& call) {
  LEAT_CO_TRY(const Wanted wanted, wanted_in(call));
  LEAT_CO_TRY(const store::Found found, co_await find_object(call));
  const record::Version& version = found.version;
  if (call.only_if_public && !is_public(version)) co_return refuse(S3Code::access_denied);
  std::string body;
  xml::Writer xml(body);
  xml.open("GetObjectAttributesResponse", kNamespace);
  if (wanted.has("ETag")) xml.element("ETag", version.etag);
  if (wanted.has("Checksum")) write_checksum(xml, version.attributes);
  const auto sizes = find_attribute(version.attributes, kParts);
  if (wanted.has("ObjectParts") && sizes) write_parts(xml, *sizes, version.attributes, wanted);
  if (wanted.has("StorageClass")) xml.element("StorageClass", "STANDARD");
  if (wanted.has("ObjectSize")) xml.element("ObjectSize", version.size_bytes);
  xml.close();
  http::Response response = xml_answer(200, std::move(body));
  const WallTime modified{std::chrono::milliseconds(version.modified_ms)};
  LEAT_CO_DO(add_field(response, "Last-Modified", http1::DateText(modified).text()));
  add_version_id(response, call.bucket, version);
  co_return response;
}

}  // namespace leat::s3
