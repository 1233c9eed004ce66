// What the three listings have in common: encoding-type, prefix and delimiter.
#pragma once

#include <string>
#include <string_view>

#include "s3/call.h"
#include "xml/writer.h"

namespace leat::s3 {

struct ListingForm {
  std::string prefix{};
  std::string delimiter{};
  bool is_encoded = false;  // encoding-type=url

  std::string shown(std::string_view name) const;
  // <name>shown(text)</name>
  void write(xml::Writer& xml, std::string_view name, std::string_view text) const;
  void write_group(xml::Writer& xml, std::string_view group) const;
};

// Errors: InvalidArgument.
S3Result<ListingForm> listing_form(const Call& call);

// ETag, checksum, size and storage class of a version.
void write_content(xml::Writer& xml, const record::Version& version);

// <name><ID/><DisplayName/></name>
void write_person(xml::Writer& xml, std::string_view name);

}  // namespace leat::s3
