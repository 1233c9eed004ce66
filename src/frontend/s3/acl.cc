#include "s3/acl.h"

#include <algorithm>
#include <array>

#include "s3/bucket_rules.h"
#include "s3/listing.h"
#include "s3/permission.h"
#include "s3/public_access.h"
#include "s3/versions.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

using http::Response;

constexpr std::string_view kEverybody = "http://acs.amazonaws.com/groups/global/AllUsers";
constexpr std::string_view kSchema = "http://www.w3.org/2001/XMLSchema-instance";

void write_grant(xml::Writer& xml, std::string_view type, std::string_view permission) {
  const std::array<xml::Attribute, 2> attributes = {
      xml::Attribute{.name = "xmlns:xsi", .value = kSchema},
      xml::Attribute{.name = "xsi:type", .value = type}};
  xml.open("Grant");
  xml.open("Grantee", attributes);
  if (type == "Group") {
    xml.element("URI", kEverybody);
  } else {
    xml.element("ID", kOwner);
    xml.element("DisplayName", kOwner);
  }
  xml.close();
  xml.element("Permission", permission);
  xml.close();
}

Response describe(bool shows_everybody) {
  std::string body;
  xml::Writer xml(body);
  xml.open("AccessControlPolicy", kNamespace);
  write_person(xml, "Owner");
  xml.open("AccessControlList");
  write_grant(xml, "CanonicalUser", "FULL_CONTROL");
  if (shows_everybody) write_grant(xml, "Group", "READ");
  xml.close();
  xml.close();
  return xml_answer(200, std::move(body));
}

std::unexpected<S3Error> unknown_grant() {
  return refuse(S3Code::not_implemented,
                "Grants are not implemented: an object or a bucket is private or public-read.");
}

// Whether a grant is READ for everybody; the only other one is FULL_CONTROL for the owner.
S3Result<bool> is_public_grant(xml::Element grant) {
  const auto grantee = grant.need_one("Grantee");
  const auto permission = grant.need_one("Permission");
  if (!grantee || !permission) return refuse(S3Code::malformed_xml);
  const auto id = grantee->find_one("ID");
  const auto uri = grantee->find_one("URI");
  if (!id || !uri || (*id).has_value() == (*uri).has_value()) return unknown_grant();
  if (*id && (*id)->text() == kOwner && permission->text() == "FULL_CONTROL") return false;
  if (*uri && (*uri)->text() == kEverybody && permission->text() == "READ") return true;
  return unknown_grant();
}

// An ACL as get_object_acl() shows it: what was had from here may be given back.
S3Result<bool> is_public_document(const std::string& text) {
  const auto document = xml::Document::parse(as_bytes(text));
  if (!document || document->root().name() != "AccessControlPolicy") {
    return refuse(S3Code::malformed_xml);
  }
  const auto list = document->root().need_one("AccessControlList");
  if (!list) return refuse(S3Code::malformed_xml);
  bool shows_everybody = false;
  const auto grants = list->children();
  for (const xml::Element grant : grants) {
    LEAT_TRY(const bool shows, is_public_grant(grant));
    shows_everybody = shows_everybody || shows;
  }
  return shows_everybody;
}

// What a PUT of an ACL asks for: a canned one, or a document, not both.
S3Task<bool> acl_in(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  const auto canned = call.field(kAcl);
  if (canned && !text.empty()) {
    co_return refuse(S3Code::invalid_request, "An ACL is canned or a document, not both.");
  }
  if (canned) co_return *canned == kPublicRead;
  if (text.empty()) {
    co_return refuse(S3Code::missing_request_body, "Neither x-amz-acl nor an ACL was sent.");
  }
  co_return is_public_document(text);
}

S3Status check_acl_block(const Call& call) {
  if (!public_access_block(call.bucket).refuses_acls) return {};
  return refuse(S3Code::access_denied,
                "The public access block of the bucket keeps ACLs from being public.");
}

}  // namespace

bool is_public(const record::Version& version) {
  return find_attribute(version.attributes, kAcl) == kPublicRead;
}

bool is_public(const record::Bucket& bucket) {
  const std::string* acl = find_property(bucket, kAclProperty);
  return acl != nullptr && *acl == kPublicRead;
}

S3Result<bool> wants_public(const Call& call) {
  if (call.field(kAcl).value_or("private") != kPublicRead) return false;
  LEAT_DO(check_acl_block(call));
  if (call.may(access::Action::put_object_acl, call.target.bucket, call.target.key)) return true;
  return refuse(S3Code::access_denied,
                "To make an object public takes the right to administer the bucket, or a policy "
                "that allows s3:PutObjectAcl.");
}

S3Status note_acl(const Call& call, Attributes& attributes) {
  LEAT_TRY(const bool is_wanted, wants_public(call));
  if (is_wanted) {
    attributes.push_back({.name = std::string(kAcl), .value = std::string(kPublicRead)});
  }
  return {};
}

Answer get_object_acl(Call& call) {
  LEAT_CO_TRY(const store::Found found, co_await find_object(call));
  co_return describe(is_public(found.version));
}

Answer put_object_acl(Call& call) {
  LEAT_CO_TRY(const bool shows_everybody, co_await acl_in(call));
  if (shows_everybody) LEAT_CO_DO(check_acl_block(call));
  std::optional<std::string> acl;
  if (shows_everybody) acl = kPublicRead;
  LEAT_CO_DO(co_await set_attribute(call, kAcl, std::move(acl)));
  co_return Response(200);
}

Answer get_bucket_acl(Call& call) {
  co_return describe(is_public(call.bucket));
}

Answer put_bucket_acl(Call& call) {
  LEAT_CO_TRY(const bool shows_everybody, co_await acl_in(call));
  if (shows_everybody) LEAT_CO_DO(check_acl_block(call));
  std::optional<std::string> value;
  if (shows_everybody) value = kPublicRead;
  auto setting =
      call.store().set_property(call.bucket.id, std::string(kAclProperty), std::move(value));
  LEAT_CO_DO(told(co_await std::move(setting), S3Code::no_such_bucket));
  co_return Response(200);
}

}  // namespace leat::s3
