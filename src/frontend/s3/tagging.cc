// Tags of objects and of buckets.
#include "s3/attributes.h"
#include "s3/bucket_rules.h"
#include "s3/versions.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

using http::Response;

S3Result<Tag> tag_in(xml::Element element) {
  const auto key = element.need_one("Key");
  const auto value = element.need_one("Value");
  if (element.name() != "Tag" || !key || !value) return refuse(S3Code::malformed_xml);
  return Tag{.key = std::string(key->text()), .value = std::string(value->text())};
}

S3Result<std::vector<Tag>> tags_in(const std::string& text, std::size_t max) {
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
  LEAT_DO(check_tags(tags, max));
  return tags;
}

Response tags_answer(const std::vector<Tag>& tags) {
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
  return xml_answer(200, std::move(body));
}

S3Task<void> keep_bucket_tags(Call& call, std::optional<std::string> tags) {
  auto setting =
      call.store().set_property(call.bucket.id, std::string(kTagsProperty), std::move(tags));
  co_return told(co_await std::move(setting), S3Code::no_such_bucket);
}

}  // namespace

Answer get_tagging(Call& call) {
  LEAT_CO_TRY(const store::Found found, co_await find_object(call));
  const auto stored = find_attribute(found.version.attributes, kTagging).value_or("");
  LEAT_CO_TRY(const auto tags, decode_tags(stored));
  co_return tags_answer(tags);
}

Answer put_tagging(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const auto tags, tags_in(text, kObjectTagsMax));
  std::optional<std::string> stored;
  if (!tags.empty()) stored = encode_tags(tags);
  LEAT_CO_DO(co_await set_attribute(call, kTagging, std::move(stored)));
  co_return Response(200);
}

Answer delete_tagging(Call& call) {
  LEAT_CO_DO(co_await set_attribute(call, kTagging, std::nullopt));
  co_return Response(204);
}

Answer get_bucket_tagging(Call& call) {
  const std::string* stored = find_property(call.bucket, kTagsProperty);
  if (stored == nullptr) co_return refuse(S3Code::no_such_tag_set, "The TagSet does not exist");
  LEAT_CO_TRY(const auto tags, decode_tags(*stored));
  co_return tags_answer(tags);
}

Answer put_bucket_tagging(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const auto tags, tags_in(text, kBucketTagsMax));
  std::optional<std::string> stored;
  if (!tags.empty()) stored = encode_tags(tags);
  LEAT_CO_DO(co_await keep_bucket_tags(call, std::move(stored)));
  co_return Response(204);
}

Answer delete_bucket_tagging(Call& call) {
  LEAT_CO_DO(co_await keep_bucket_tags(call, std::nullopt));
  co_return Response(204);
}

}  // namespace leat::s3
