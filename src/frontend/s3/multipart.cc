// Uploads in parts: beginning, sending, completing, aborting.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "http1/grammar.h"
#include "s3/acl.h"
#include "s3/attributes.h"
#include "s3/configuration.h"
#include "s3/etag.h"
#include "s3/multipart.h"
#include "s3/parts.h"
#include "s3/transfer.h"
#include "s3/versions.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

using hash::ChecksumAlgorithm;
using hash::ChecksumValue;
using http::Response;

constexpr std::uint64_t kPartMinBytes = 5 * kMiB;      // but for the last one
constexpr std::size_t kCompletionMaxBytes = 4 * kMiB;  // ten thousand parts with checksums
// Every look-up of the object brings its attributes: ten thousand parts with a CRC, but not with
// an SHA-256, of which three thousand fit.
constexpr std::size_t kPartSumsMaxBytes = 96 * kKiB;

S3Result<std::uint32_t> part_number_in(const Call& call) {
  const auto number = http1::parse_decimal(call.query("partNumber").value_or(""));
  if (!number || *number < 1 || *number > kPartNumberMax) {
    return refuse(S3Code::invalid_argument,
                  "Part number must be an integer between 1 and 10000, inclusive");
  }
  return static_cast<std::uint32_t>(*number);
}

S3Result<ChecksumPlan> checksum_plan(std::optional<ChecksumAlgorithm> algorithm,
                                     std::optional<std::string_view> type) {
  ChecksumPlan plan{.algorithm = algorithm.value_or(ChecksumAlgorithm::crc64nvme),
                    .is_chosen = algorithm.has_value()};
  const bool is_linear = hash::is_linear(plan.algorithm);
  const bool has_composite = plan.algorithm != ChecksumAlgorithm::crc64nvme;
  plan.is_composite = has_composite;
  if (!type) return plan;
  plan.is_composite = *type == kComposite;
  const bool is_possible = plan.is_composite ? has_composite : is_linear && *type == kFullObject;
  if (is_possible) return plan;
  return refuse(S3Code::invalid_request,
                fmt::format("The {} checksum type cannot be used with the {} checksum algorithm.",
                            *type, hash::word_of(plan.algorithm)));
}

}  // namespace

std::string text_of(record::UploadId id) {
  return fmt::format("{:016x}", id.value());
}

std::optional<record::UploadId> upload_from(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const record::UploadId id(value);
  if (error != std::errc{} || text_of(id) != text || value == 0) return std::nullopt;
  return id;
}

S3Result<record::UploadId> upload_in(const Call& call) {
  const auto id = upload_from(call.query("uploadId").value_or(""));
  if (!id) return refuse(S3Code::no_such_upload);
  return *id;
}

S3Result<ChecksumPlan> checksum_plan(const record::Upload& upload) {
  const auto word = find_attribute(upload.attributes, kChecksumAlgorithm);
  if (!word) return ChecksumPlan();
  return checksum_plan(hash::algorithm_from_word(*word),
                       find_attribute(upload.attributes, kChecksumType));
}

std::string checksum_element(ChecksumAlgorithm algorithm) {
  return fmt::format("Checksum{}", hash::word_of(algorithm));
}

S3Task<record::Upload> find_upload(Call& call, record::UploadId id) {
  auto finding = call.store().find_upload(call.object(), id);
  co_return told(co_await std::move(finding), S3Code::no_such_upload);
}

S3Task<std::vector<record::Part>> find_parts(Call& call, record::UploadId id) {
  auto finding = call.store().list_parts(call.object(), id);
  co_return told(co_await std::move(finding), S3Code::no_such_upload);
}

namespace {

// A part as CompleteMultipartUpload names it.
struct Named {
  std::uint32_t number = 0;
  std::string etag{};
  std::optional<std::string> checksum{};  // of any algorithm
};

S3Result<Named> named_in(xml::Element part) {
  Named named;
  const auto children = part.children();
  for (const xml::Element child : children) {
    if (child.name() == "PartNumber") {
      const auto number = http1::parse_decimal(child.text());
      if (!number || *number < 1 || *number > kPartNumberMax || named.number != 0) {
        return refuse(S3Code::malformed_xml);
      }
      named.number = static_cast<std::uint32_t>(*number);
    } else if (child.name() == "ETag" && named.etag.empty()) {
      named.etag = without_quotes(child.text());
    } else if (child.name().starts_with("Checksum") && !named.checksum) {
      named.checksum = child.text();
    } else {
      return refuse(S3Code::malformed_xml);
    }
  }
  if (named.number == 0 || named.etag.empty()) return refuse(S3Code::malformed_xml);
  return named;
}

S3Result<std::vector<Named>> named_parts(const std::string& text) {
  const auto document =
      xml::Document::parse(as_bytes(text), {.size_max_bytes = kCompletionMaxBytes});
  if (!document || document->root().name() != "CompleteMultipartUpload") {
    return refuse(S3Code::malformed_xml);
  }
  std::vector<Named> parts;
  const auto children = document->root().children();
  for (const xml::Element child : children) {
    if (child.name() != "Part" || parts.size() == kPartNumberMax) {
      return refuse(S3Code::malformed_xml);
    }
    LEAT_TRY(Named named, named_in(child));
    if (!parts.empty() && named.number <= parts.back().number) {
      return refuse(S3Code::invalid_part_order);
    }
    parts.push_back(std::move(named));
  }
  if (parts.empty()) return refuse(S3Code::malformed_xml);
  return parts;
}

// The stored parts that were named, in order. Errors: InvalidPart, EntityTooSmall.
S3Result<std::vector<const record::Part*>> choose(const std::vector<Named>& named,
                                                  const std::vector<record::Part>& stored) {
  std::vector<const record::Part*> chosen;
  for (const Named& one : named) {
    const auto part = std::ranges::find(stored, one.number, &record::Part::number);
    const bool is_it = part != stored.end() && part->content.etag == one.etag;
    const auto checksum = is_it ? checksum_of(part->content.attributes) : std::nullopt;
    if (!is_it || (one.checksum && checksum && checksum->text != *one.checksum)) {
      auto refusal = refuse(S3Code::invalid_part);
      refusal.error().details = {{"PartNumber", std::to_string(one.number)}, {"ETag", one.etag}};
      return refusal;
    }
    chosen.push_back(&*part);
  }
  for (std::size_t i = 0; i + 1 < chosen.size(); ++i) {
    const record::Version& content = chosen[i]->content;
    if (content.size_bytes >= kPartMinBytes) continue;
    auto refusal = refuse(S3Code::entity_too_small);
    refusal.error().details = {{"ProposedSize", std::to_string(content.size_bytes)},
                               {"MinSizeAllowed", std::to_string(kPartMinBytes)},
                               {"PartNumber", std::to_string(chosen[i]->number)},
                               {"ETag", content.etag}};
    return refusal;
  }
  return chosen;
}

// Of the ETags of its parts, fast ones too: what their digits say, without the count.
std::string etag_of(const std::vector<const record::Part*>& parts) {
  hash::Md5 md5;
  for (const record::Part* part : parts) {
    const std::string_view etag = part->content.etag;
    const auto digest = from_hex(etag.substr(0, etag.find('-')));
    if (digest) md5.update(*digest);
  }
  return fmt::format("{}-{}", to_hex(md5.finish()), parts.size());
}

struct WholeChecksum {
  std::string text{};
  std::string of_parts{};  // their bytes, one behind the other
};

// The checksum of the whole, out of those of its parts; nothing if they have different ones.
std::optional<WholeChecksum> checksum_of_whole(const std::vector<const record::Part*>& parts,
                                               const ChecksumPlan& plan) {
  hash::Checksum composite(plan.algorithm);
  std::optional<ChecksumValue> full;
  WholeChecksum whole;
  for (const record::Part* part : parts) {
    const auto stored = checksum_of(part->content.attributes);
    if (!stored || stored->algorithm != plan.algorithm) return std::nullopt;
    const auto value = ChecksumValue::from_base64(stored->algorithm, stored->text);
    if (!value) return std::nullopt;
    composite.update(value->bytes());
    whole.of_parts += as_text(value->bytes());
    if (!plan.is_composite) {
      full = full ? hash::combine(*full, *value, part->content.size_bytes) : *value;
    }
  }
  whole.text =
      full ? full->base64() : fmt::format("{}-{}", composite.finish().base64(), parts.size());
  return whole;
}

// What the client says the whole must be. Errors: BadDigest, InvalidRequest.
S3Status check_whole(const Call& call, const std::vector<const record::Part*>& parts,
                     const std::optional<WholeChecksum>& checksum, const ChecksumPlan& plan) {
  for (const ChecksumAlgorithm algorithm : hash::kChecksumAlgorithms) {
    const auto said = call.field(hash::header_of(algorithm));
    if (!said) continue;
    // Without the count of parts it is the same value.
    const std::string_view made = checksum ? std::string_view(checksum->text) : "";
    const bool is_same = checksum && algorithm == plan.algorithm &&
                         (*said == made || *said == made.substr(0, made.find('-')));
    if (!is_same) {
      return refuse(S3Code::bad_digest,
                    fmt::format("The {} you specified did not match the calculated checksum.",
                                hash::word_of(algorithm)));
    }
  }
  if (const auto type = call.field(kChecksumType)) {
    if (*type != (plan.is_composite ? kComposite : kFullObject)) {
      return refuse(S3Code::invalid_request, "The checksum type is not that of the upload.");
    }
  }
  if (const auto size = call.field("x-amz-mp-object-size")) {
    std::uint64_t total = 0;
    for (const record::Part* part : parts)
      total += part->content.size_bytes;
    if (http1::parse_decimal(*size) != total) {
      return refuse(S3Code::invalid_request, "The object has another size than you specified.");
    }
  }
  return {};
}

Response completed(const Call& call, const record::Version& version) {
  std::string body;
  xml::Writer xml(body);
  xml.open("CompleteMultipartUploadResult", kNamespace);
  xml.element("Location", std::string_view(call.exchange.head.path));
  xml.element("Bucket", call.target.bucket);
  xml.element("Key", call.target.key);
  xml.element("ETag", fmt::format("\"{}\"", version.etag));
  if (const auto checksum = checksum_of(version.attributes)) {
    const std::string name = checksum_element(checksum->algorithm);
    xml.element(name, checksum->text);
    xml.element("ChecksumType",
                find_attribute(version.attributes, kChecksumType).value_or(kFullObject));
  }
  xml.close();
  Response response = xml_answer(200, std::move(body));
  add_version_id(response, call.bucket, version);
  add_expiration(call, version, response);
  return response;
}

// A client that did not hear that its upload was completed asks again: it gets the same answer.
Answer completed_before(Call& call, record::UploadId id) {
  const auto found = co_await call.store().find(call.object());
  if (found && find_attribute(found->version.attributes, kUpload) == text_of(id)) {
    co_return completed(call, found->version);
  }
  co_return refuse(S3Code::no_such_upload);
}

volume::Completion completion_of(const Call& call, const record::Upload& upload,
                                 const std::vector<const record::Part*>& parts) {
  volume::Completion completion{
      .object = call.object(), .upload = upload.id, .etag = etag_of(parts)};
  std::vector<std::uint64_t> sizes;
  for (const record::Part* part : parts) {
    completion.parts.push_back({.number = part->number, .etag = part->content.etag});
    sizes.push_back(part->content.size_bytes);
  }
  completion.attributes.push_back({.name = std::string(kParts), .value = encode_parts(sizes)});
  completion.attributes.push_back({.name = std::string(kUpload), .value = text_of(upload.id)});
  return completion;
}

// The stored answer of a part.
Response part_answer(const record::Version& version) {
  Response response(200);
  response.add_checked(fmt::format("ETag: \"{}\"\r\n", version.etag));
  return response;
}

void keep_checksum(Attributes& attributes, const ChecksumValue& value) {
  attributes.push_back(
      {.name = std::string(hash::header_of(value.algorithm())), .value = value.base64()});
}

// x-amz-copy-source-range: all of the source without it.
S3Result<volume::ByteRange> copy_range(const Call& call, std::uint64_t size) {
  const auto text = call.field("x-amz-copy-source-range");
  if (!text) return volume::ByteRange{.offset = 0, .length = size};
  constexpr std::string_view kUnit = "bytes=";
  const std::string_view numbers = text->starts_with(kUnit) ? text->substr(kUnit.size()) : "";
  const std::size_t dash = std::min(numbers.find('-'), numbers.size());
  const auto first = http1::parse_decimal(numbers.substr(0, dash));
  const auto last = http1::parse_decimal(numbers.substr(std::min(dash + 1, numbers.size())));
  if (!first || !last || *first > *last) {
    return refuse(S3Code::invalid_argument,
                  "The x-amz-copy-source-range value must be of the form bytes=first-last where "
                  "first and last are the zero-based offsets of the first and last bytes to copy");
  }
  if (*last >= size) {
    return refuse(S3Code::invalid_range,
                  fmt::format("Range specified is not valid for source object of size: {}", size));
  }
  return volume::ByteRange{.offset = *first, .length = *last - *first + 1};
}

}  // namespace

Answer create_upload(Call& call) {
  LEAT_CO_TRY(Attributes attributes, metadata_in(call));
  LEAT_CO_TRY(auto tags, tagging_in(call));
  if (tags) attributes.push_back({.name = std::string(kTagging), .value = *std::move(tags)});
  LEAT_CO_DO(note_acl(call, attributes));
  LEAT_CO_TRY(const auto algorithm, algorithm_in(call, kChecksumAlgorithm));
  LEAT_CO_TRY(const ChecksumPlan plan, checksum_plan(algorithm, call.field(kChecksumType)));
  const std::string_view type = plan.is_composite ? kComposite : kFullObject;
  if (plan.is_chosen) {
    attributes.push_back({.name = std::string(kChecksumAlgorithm),
                          .value = std::string(hash::word_of(plan.algorithm))});
  }
  attributes.push_back({.name = std::string(kChecksumType), .value = std::string(type)});
  auto beginning = call.store().begin_upload(call.object(), std::move(attributes));
  LEAT_CO_TRY(const auto upload, told(co_await std::move(beginning), S3Code::no_such_bucket));
  std::string body;
  xml::Writer xml(body);
  xml.open("InitiateMultipartUploadResult", kNamespace);
  xml.element("Bucket", call.target.bucket);
  xml.element("Key", call.target.key);
  xml.element("UploadId", text_of(upload.id));
  xml.close();
  Response response = xml_answer(200, std::move(body));
  if (plan.is_chosen) {
    LEAT_CO_DO(add_field(response, kChecksumAlgorithm, hash::word_of(plan.algorithm)));
    LEAT_CO_DO(add_field(response, kChecksumType, type));
  }
  co_return response;
}

Answer upload_part(Call& call) {
  LEAT_CO_TRY(const record::UploadId id, upload_in(call));
  LEAT_CO_TRY(const std::uint32_t number, part_number_in(call));
  const http1::RequestHead& head = call.exchange.head;
  const s3body::HttpFraming framing{.content_length = head.content_length, .chunked = head.chunked};
  LEAT_CO_TRY(auto plan, s3body::plan_upload(call.caller.request, call.caller.payload, framing));
  if (plan.size.value_or(0) > kPutMaxBytes) co_return refuse(S3Code::entity_too_large);
  LEAT_CO_TRY(const record::Upload upload, co_await find_upload(call, id));
  LEAT_CO_TRY(const ChecksumPlan whole, checksum_plan(upload));
  if (!plan.checksum_is_chosen) plan.checksum = whole.algorithm;
  if (whole.is_chosen && plan.checksum != whole.algorithm) {
    co_return refuse(
        S3Code::invalid_request,
        fmt::format("Checksum Type mismatch occurred, expected checksum Type: {}, actual checksum "
                    "Type: {}",
                    hash::word_of(whole.algorithm), hash::word_of(plan.checksum)));
  }
  plan.makes_md5 = !has_fast_etags(call.bucket);
  LEAT_CO_TRY(auto reader, s3body::BodyReader::create(std::move(plan), call.caller.chain));
  auto beginning = call.store().begin_part(call.object(), id, number);
  LEAT_CO_TRY(auto put, told(co_await std::move(beginning), S3Code::no_such_upload));
  LEAT_CO_TRY(const auto digests, co_await receive(call, *put, reader));
  store::PutDetails details{.etag = etag_of(digests)};
  keep_checksum(details.attributes, digests.checksum);
  auto finishing = put->finish(std::move(details));
  LEAT_CO_TRY(const auto version, told(co_await std::move(finishing), S3Code::no_such_upload));
  Response response = part_answer(version);
  LEAT_CO_DO(add_checksum(response, version.attributes));
  co_return response;
}

Answer upload_part_copy(Call& call) {
  LEAT_CO_TRY(const record::UploadId id, upload_in(call));
  LEAT_CO_TRY(const std::uint32_t number, part_number_in(call));
  LEAT_CO_TRY(const record::Upload upload, co_await find_upload(call, id));
  LEAT_CO_TRY(const ChecksumPlan whole, checksum_plan(upload));
  LEAT_CO_TRY(const CopySource source, co_await find_copy_source(call));
  LEAT_CO_TRY(const auto range, copy_range(call, source.found.version.size_bytes));
  if (range.length > kPutMaxBytes) co_return refuse(S3Code::entity_too_large);
  auto beginning = call.store().begin_part(call.object(), id, number);
  LEAT_CO_TRY(auto put, told(co_await std::move(beginning), S3Code::no_such_upload));
  const CopyPlan plan{
      .range = range, .algorithm = whole.algorithm, .has_fast_etag = has_fast_etags(call.bucket)};
  auto copying = copy_into(call.store(), source.found, plan, *put);
  LEAT_CO_TRY(const CopyDigests digests, co_await std::move(copying));
  store::PutDetails details{.etag = digests.etag};
  keep_checksum(details.attributes, digests.checksum);
  auto finishing = put->finish(std::move(details));
  LEAT_CO_TRY(const auto version, told(co_await std::move(finishing), S3Code::no_such_upload));
  std::string body;
  xml::Writer xml(body);
  xml.open("CopyPartResult", kNamespace);
  xml.element("LastModified", iso_time(version.modified_ms));
  xml.element("ETag", fmt::format("\"{}\"", version.etag));
  const std::string name = checksum_element(whole.algorithm);
  xml.element(name, digests.checksum.base64());
  xml.close();
  co_return xml_answer(200, std::move(body));
}

Answer complete_upload(Call& call) {
  const DocumentForm form{.max_bytes = kCompletionMaxBytes, .has_object_checksums = true};
  LEAT_CO_TRY(const record::UploadId id, upload_in(call));
  LEAT_CO_TRY(auto precondition, precondition_of(call));
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const auto named, named_parts(text));
  const auto upload = co_await find_upload(call, id);
  if (!upload && upload.error().code == S3Code::no_such_upload) {
    co_return co_await completed_before(call, id);
  }
  if (!upload) co_return std::unexpected(upload.error());
  LEAT_CO_TRY(const ChecksumPlan plan, checksum_plan(*upload));
  LEAT_CO_TRY(const auto stored, co_await find_parts(call, id));
  LEAT_CO_TRY(const auto parts, choose(named, stored));
  std::optional<WholeChecksum> checksum = checksum_of_whole(parts, plan);
  LEAT_CO_DO(check_whole(call, parts, checksum, plan));
  volume::Completion completion = completion_of(call, *upload, parts);
  if (checksum) {
    completion.attributes.push_back(
        {.name = std::string(hash::header_of(plan.algorithm)), .value = checksum->text});
    if (checksum->of_parts.size() <= kPartSumsMaxBytes) {
      completion.attributes.push_back(
          {.name = std::string(kPartSums), .value = std::move(checksum->of_parts)});
    }
  }
  const volume::Precondition condition = precondition;
  auto completing = call.store().complete_upload(std::move(completion), std::move(precondition));
  const auto version = co_await std::move(completing);
  if (version) co_return completed(call, *version);
  const Error& error = version.error();
  // Completed by somebody else meanwhile; or a part was sent again.
  if (error.code() == Errc::not_found) co_return co_await completed_before(call, id);
  if (error.code() == Errc::bad_request) co_return refuse(S3Code::invalid_part);
  LEAT_CO_TRY(S3Error refusal, co_await refusal_of_change(call, error, condition));
  co_return std::unexpected(std::move(refusal));
}

Answer abort_upload(Call& call) {
  LEAT_CO_TRY(const record::UploadId id, upload_in(call));
  auto aborting = call.store().abort_upload(call.object(), id);
  LEAT_CO_DO(told(co_await std::move(aborting), S3Code::no_such_upload));
  co_return Response(204);
}

}  // namespace leat::s3
