#include "s3/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/encoding.h"
#include "http1/grammar.h"
#include "http1/uri.h"
#include "s3body/plan.h"

namespace leat::s3 {
namespace {

constexpr std::size_t kMetadataMaxBytes = 2048;
constexpr std::string_view kMetaPrefix = "x-amz-meta-";
constexpr std::string_view kContentType = "content-type";
constexpr std::string_view kContentEncoding = "content-encoding";
constexpr std::array<std::string_view, 6> kStandard = {kContentType,          "cache-control",
                                                       "content-disposition", kContentEncoding,
                                                       "content-language",    "expires"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), http1::to_lower);
  return out;
}

bool is_standard(std::string_view name) {
  return std::ranges::find(kStandard, name) != kStandard.end();
}

// Characters, not bytes: those that go on with one begin with the bits 10.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// A field that stands several times is one with commas (RFC 9110, 5.2).
void put(Attributes& attributes, std::string name, std::string_view value) {
  for (record::Attribute& one : attributes) {
    if (one.name != name) continue;
    one.value.append(",").append(value);
    return;
  }
  attributes.push_back({.name = std::move(name), .value = std::string(value)});
}

}  // namespace

std::optional<std::string_view> find_attribute(const Attributes& attributes,
                                               std::string_view name) {
  for (const record::Attribute& one : attributes) {
    if (one.name == name) return one.value;
  }
  return std::nullopt;
}

bool is_metadata(std::string_view name) {
  return is_standard(name) || name.starts_with(kMetaPrefix);
}

S3Result<Attributes> metadata_in(const Call& call) {
  Attributes attributes;
  for (const http1::HeaderField& field : call.exchange.head.headers) {
    std::string name = lower(field.name);
    if (!is_metadata(name)) continue;
    if (name == kContentEncoding) {
      const std::string stored = s3body::stored_content_encoding(field.value);
      if (!stored.empty()) put(attributes, std::move(name), stored);
      continue;
    }
    put(attributes, std::move(name), field.value);
  }
  for (const http1::QueryPair& pair : call.caller.request.query) {
    std::string name = lower(pair.name);
    if (name.starts_with(kMetaPrefix)) put(attributes, std::move(name), pair.value);
  }
  std::size_t size = 0;
  for (const record::Attribute& one : attributes) {
    if (http1::find_control(one.value, 0) != one.value.size() || !http1::is_token(one.name)) {
      return refuse(S3Code::invalid_argument, "Metadata with a control character.");
    }
    if (one.name.starts_with(kMetaPrefix)) {
      size += one.name.size() - kMetaPrefix.size() + one.value.size();
    }
  }
  if (size > kMetadataMaxBytes) {
    return refuse(S3Code::metadata_too_large,
                  "Your metadata headers exceed the maximum allowed metadata size");
  }
  return attributes;
}

S3Status check_tags(const std::vector<Tag>& tags, std::size_t max) {
  if (tags.size() > max) {
    const std::string_view what = max == kObjectTagsMax ? "Object" : "Bucket";
    return refuse(S3Code::bad_request, fmt::format("{} tags cannot be greater than {}", what, max));
  }
  std::set<std::string_view> keys;
  for (const Tag& tag : tags) {
    if (tag.key.empty() || characters(tag.key) > 128) {
      return refuse(S3Code::invalid_tag, "The TagKey you have provided is invalid");
    }
    if (characters(tag.value) > 256) {
      return refuse(S3Code::invalid_tag, "The TagValue you have provided is invalid");
    }
    if (!keys.insert(tag.key).second) {
      return refuse(S3Code::invalid_tag, "Cannot provide multiple Tags with the same key");
    }
  }
  return {};
}

std::string encode_tags(const std::vector<Tag>& tags) {
  std::string text;
  for (const Tag& tag : tags) {
    if (!text.empty()) text += '&';
    http1::append_percent_encoded(text, tag.key, http1::Slash::encode);
    text += '=';
    http1::append_percent_encoded(text, tag.value, http1::Slash::encode);
  }
  return text;
}

S3Result<std::vector<Tag>> decode_tags(std::string_view text) {
  // As forms write them: a plus is a space.
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto pairs = http1::parse_query(spaced);
  if (!pairs) return refuse(S3Code::invalid_argument, "The header 'x-amz-tagging' is not valid.");
  std::vector<Tag> tags;
  for (http1::QueryPair& pair : *pairs)
    tags.push_back({.key = std::move(pair.name), .value = std::move(pair.value)});
  return tags;
}

S3Result<std::optional<std::string>> tagging_in(const Call& call) {
  const auto text = call.field(kTagging);
  if (!text) return std::optional<std::string>();
  // A policy that denies tagging denies it here as well.
  if (!call.may(access::Action::put_object_tagging, call.target.bucket, call.target.key)) {
    return refuse(S3Code::access_denied);
  }
  LEAT_TRY(const auto tags, decode_tags(*text));
  LEAT_DO(check_tags(tags));
  return std::optional(encode_tags(tags));
}

std::optional<StoredChecksum> checksum_of(const Attributes& attributes) {
  for (const hash::ChecksumAlgorithm algorithm : hash::kChecksumAlgorithms) {
    if (const auto text = find_attribute(attributes, hash::header_of(algorithm))) {
      return StoredChecksum{.algorithm = algorithm, .text = *text};
    }
  }
  return std::nullopt;
}

void set_checksum(Attributes& attributes, const hash::ChecksumValue& value) {
  attributes.push_back(
      {.name = std::string(hash::header_of(value.algorithm())), .value = value.base64()});
  attributes.push_back({.name = std::string(kChecksumType), .value = std::string(kFullObject)});
}

std::optional<std::string> part_checksum(const Attributes& attributes, std::uint64_t number) {
  const auto whole = checksum_of(attributes);
  const auto sums = find_attribute(attributes, kPartSums);
  if (!whole || !sums) return std::nullopt;
  const std::size_t size = hash::size_of(whole->algorithm);
  if (number < 1 || number > sums->size() / size) return std::nullopt;
  return to_base64(as_bytes(sums->substr((number - 1) * size, size)));
}

S3Status add_field(http::Response& response, std::string_view name, std::string_view value) {
  if (response.add(name, value)) return {};
  return refuse(S3Code::invalid_argument, fmt::format("The value of {} is not valid.", name));
}

S3Status add_metadata(const Call& call, http::Response& response, const Attributes& attributes) {
  for (const record::Attribute& one : attributes) {
    if (one.name == kContentType || !is_metadata(one.name)) continue;
    LEAT_DO(add_field(response, one.name, one.value));
  }
  const auto tags = find_attribute(attributes, kTagging);
  if (tags && !tags->empty() &&
      call.may(access::Action::get_object_tagging, call.target.bucket, call.target.key)) {
    const auto count = std::ranges::count(*tags, '&') + 1;
    response.add_checked(fmt::format("x-amz-tagging-count: {}\r\n", count));
  }
  return {};
}

S3Status add_checksum(http::Response& response, const Attributes& attributes) {
  const auto checksum = checksum_of(attributes);
  if (!checksum) return {};
  LEAT_DO(add_field(response, hash::header_of(checksum->algorithm), checksum->text));
  if (const auto type = find_attribute(attributes, kChecksumType)) {
    LEAT_DO(add_field(response, kChecksumType, *type));
  }
  return {};
}

S3Status add_part_checksum(http::Response& response, const Attributes& attributes,
                           std::uint64_t number) {
  if (!find_attribute(attributes, kParts)) return add_checksum(response, attributes);
  const auto checksum = part_checksum(attributes, number);
  if (!checksum) return {};
  LEAT_DO(add_field(response, hash::header_of(checksum_of(attributes)->algorithm), *checksum));
  // How it went into that of the whole.
  if (const auto type = find_attribute(attributes, kChecksumType)) {
    LEAT_DO(add_field(response, kChecksumType, *type));
  }
  return {};
}

}  // namespace leat::s3
