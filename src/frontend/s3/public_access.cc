#include "s3/public_access.h"

#include <array>

#include "s3/bucket_rules.h"
#include "s3/call.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

struct Flag {
  std::string_view name;
  bool PublicAccessBlock::* member;
};
constexpr std::array kFlags = {
    Flag{"BlockPublicAcls", &PublicAccessBlock::refuses_acls},
    Flag{"IgnorePublicAcls", &PublicAccessBlock::ignores_acls},
    Flag{"BlockPublicPolicy", &PublicAccessBlock::refuses_policy},
    Flag{"RestrictPublicBuckets", &PublicAccessBlock::restricts_bucket},
};

// Kept as one digit for each flag: every request without credentials asks for it.
std::string encoded(const PublicAccessBlock& block) {
  std::string text;
  for (const Flag& flag : kFlags)
    text += block.*flag.member ? '1' : '0';
  return text;
}

S3Result<PublicAccessBlock> block_in(const std::string& text) {
  const auto document = xml::Document::parse(as_bytes(text));
  if (!document || document->root().name() != "PublicAccessBlockConfiguration") {
    return refuse(S3Code::malformed_xml);
  }
  PublicAccessBlock block;
  const auto children = document->root().children();
  for (const xml::Element child : children) {
    const auto* flag = std::ranges::find(kFlags, child.name(), &Flag::name);
    const std::string_view value = child.text();
    if (flag == kFlags.end() || (value != "true" && value != "false")) {
      return refuse(S3Code::malformed_xml);
    }
    block.*flag->member = value == "true";
  }
  return block;
}

S3Task<void> keep(Call& call, std::optional<std::string> text) {
  auto setting = call.store().set_property(call.bucket.id, std::string(kPublicAccessProperty),
                                           std::move(text));
  co_return told(co_await std::move(setting), S3Code::no_such_bucket);
}

}  // namespace

PublicAccessBlock public_access_block(const record::Bucket& bucket) {
  PublicAccessBlock block;
  const std::string* text = find_property(bucket, kPublicAccessProperty);
  if (text == nullptr) return block;
  // What cannot be read, since a later Leat wrote it, blocks all.
  for (std::size_t i = 0; i < kFlags.size(); ++i)
    block.*kFlags[i].member = text->size() != kFlags.size() || (*text)[i] != '0';
  return block;
}

Answer get_public_access_block(Call& call) {
  if (find_property(call.bucket, kPublicAccessProperty) == nullptr) {
    co_return refuse(S3Code::no_such_public_access_block,
                     "The public access block configuration was not found");
  }
  const PublicAccessBlock block = public_access_block(call.bucket);
  std::string body;
  xml::Writer xml(body);
  xml.open("PublicAccessBlockConfiguration", kNamespace);
  for (const Flag& flag : kFlags)
    xml.element(flag.name, block.*flag.member);
  xml.close();
  co_return xml_answer(200, std::move(body));
}

Answer put_public_access_block(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const PublicAccessBlock block, block_in(text));
  LEAT_CO_DO(co_await keep(call, encoded(block)));
  co_return http::Response(200);
}

Answer delete_public_access_block(Call& call) {
  LEAT_CO_DO(co_await keep(call, std::nullopt));
  co_return http::Response(204);
}

}  // namespace leat::s3
