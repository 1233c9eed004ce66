// Tags of objects.
#include "s3/attributes.h"
#include "s3/versions.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

using http::Response;

// How often the object may be replaced while its tags are being set before we give up.
constexpr int kRaces = 10;

S3Result<Tag> tag_in(xml::Element element) {
  const auto key = element.need_one("Key");
  const auto value = element.need_one("Value");
  if (element.name() != "Tag" || !key || !value) return refuse(S3Code::malformed_xml);
  return Tag{.key = std::string(key->text()), .value = std::string(value->text())};
}

S3Result<std::vector<Tag>> tags_in(const std::string& text) {
  const auto document = xml::Document::parse(as_bytes(text));
  if (!document || document->root().name() != "Tagging") return refuse(S3Code::malformed_xml);
  const auto set = document->root().need_one("TagSet");
  if (!set) return refuse(S3Code::malformed_xml);
  std::vector<Tag> tags;
  const auto children = set->children();
  for (const xml::Element child : children) {
    LEAT_TRY(Tag tag, tag_in(child));
    tags.push_back(std::move(tag));
  }
  LEAT_DO(check_tags(tags));
  return tags;
}

// `tags` as encode_tags() writes them; empty for none.
S3Task<void> set_tags(Call& call, std::string tags) {
  for (int race = 0;; ++race) {
    LEAT_CO_TRY(const store::Found found, co_await find_object(call));
    Attributes attributes = found.version.attributes;
    std::erase_if(attributes, [](const auto& one) { return one.name == kTagging; });
    if (!tags.empty()) attributes.push_back({.name = std::string(kTagging), .value = tags});
    const auto revised = co_await call.store().set_attributes(found, std::move(attributes));
    if (revised) co_return S3Status{};
    // Replaced since it was found.
    const Errc code = revised.error().code();
    const bool is_gone = code == Errc::not_found || code == Errc::precondition_failed;
    if (is_gone && race < kRaces) continue;
    co_return std::unexpected(told(revised.error(), S3Code::no_such_key));
  }
}

}  // namespace

Answer get_tagging(Call& call) {
  LEAT_CO_TRY(const store::Found found, co_await find_object(call));
  const auto stored = find_attribute(found.version.attributes, kTagging).value_or("");
  LEAT_CO_TRY(const auto tags, decode_tags(stored));
  std::string body;
  xml::Writer xml(body);
  xml.open("Tagging", kNamespace);
  xml.open("TagSet");
  for (const Tag& tag : tags) {
    xml.open("Tag");
    xml.element("Key", tag.key);
    xml.element("Value", tag.value);
    xml.close();
  }
  xml.close();
  xml.close();
  co_return xml_answer(200, std::move(body));
}

Answer put_tagging(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const auto tags, tags_in(text));
  LEAT_CO_DO(co_await set_tags(call, encode_tags(tags)));
  co_return Response(200);
}

Answer delete_tagging(Call& call) {
  LEAT_CO_DO(co_await set_tags(call, std::string()));
  co_return Response(204);
}

}  // namespace leat::s3
