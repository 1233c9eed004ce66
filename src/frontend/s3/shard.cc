// Reading into a shard: one member, one sample, some fields of all samples; and what it has.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hash/crc32c.h"
#include "http/representation.h"
#include "http1/media_type.h"
#include "s3/acl.h"
#include "s3/attributes.h"
#include "s3/versions.h"
#include "shards/ranges.h"
#include "stored/body.h"
#include "stored/names.h"
#include "tar/writer.h"

namespace leat::s3 {
namespace {

using http::Response;
using nlohmann::json;

// How often the shard may be replaced between finding and opening it before we give up.
constexpr int kRaces = 10;
constexpr std::uint64_t kMembersMax = 10'000;

// What of the shard the request is about.
struct Choice {
  shards::Ranges ranges{};
  std::string tail{};  // behind them
  std::string content_type{};
  std::string name{};  // the same for the same choice
};

std::vector<std::string> split_fields(std::string_view text) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) fields.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return fields;
}

// The sentence says what the shard has, which AWS's own for the code would not.
template <class T>
S3Result<T> told_in_full(Result<T>&& result) {
  if (result) return *std::move(result);
  const Error& error = result.error();
  if (error.code() == Errc::not_found)
    return refuse(S3Code::no_such_key, std::string(error.detail()));
  if (error.code() == Errc::bad_request)
    return refuse(S3Code::invalid_request, std::string(error.detail()));
  return std::unexpected(s3::told(error, S3Code::no_such_key));
}

S3Result<Choice> choose(const Call& call, const shard::View& index) {
  const auto member = call.query("member");
  const auto sample = call.query("sample");
  const auto fields = call.query("fields");
  if (member && (sample || fields)) {
    return refuse(S3Code::invalid_argument, "member cannot be combined with sample or fields");
  }
  Choice choice;
  if (member) {
    LEAT_TRY(const auto data, told_in_full(shards::select_member(index, *member)));
    choice.ranges = {data};
    choice.content_type = http1::media_type_of(*member);
    choice.name = fmt::format("member {}", *member);
    return choice;
  }
  shards::Narrowing narrowing;
  if (sample) narrowing.sample = *sample;
  if (fields) {
    narrowing.fields = split_fields(*fields);
    if (narrowing.fields.empty()) {
      return refuse(S3Code::invalid_argument, "fields names no field: fields=jpg,cls");
    }
  }
  LEAT_TRY(choice.ranges, told_in_full(shards::select_members(index, narrowing)));
  choice.tail.assign(tar::kEndBytes, '\0');
  choice.content_type = "application/x-tar";
  choice.name = fmt::format("sample {} fields {}", sample.value_or(""), fields.value_or(""));
  return choice;
}

std::string etag_of(const record::Version& version, const Choice& choice) {
  return fmt::format("\"{}-{:08x}\"", version.etag, hash::crc32c(as_bytes(choice.name)));
}

// The object of the request, if the caller may read it.
S3Task<store::Found> find_readable(Call& call) {
  LEAT_CO_TRY(store::Found found, co_await find_object(call));
  if (call.only_if_public && !is_public(found.version)) co_return refuse(S3Code::access_denied);
  co_return found;
}

// The range of the choice, with what of its tail is in it.
void set_body(Call& call, Response& response, store::Found found, const Choice& choice,
              const http::ReadAnswer::Range& range) {
  const std::uint64_t inside = shards::total_bytes(choice.ranges);
  const std::uint64_t end = range.offset + range.length;
  std::string tail;
  if (end > inside) tail.assign(end - std::max(inside, range.offset), '\0');
  stored::set_body(response,
                   std::make_unique<shards::RangesSource>(
                       call.store(), std::move(found),
                       shards::cut(choice.ranges, range.offset, range.length), std::move(tail)),
                   range.length);
}

json describe(const shard::View& index, const shard::MemberRef& member) {
  json one = {{"offset", member.data_offset},
              {"size", member.size_bytes},
              {"kind", shards::word_of(member.kind)}};
  stored::add_name(one, "name", member.name);
  if (member.sample) {
    stored::add_name(one, "sample", index.sample(*member.sample).key);
    stored::add_name(one, "field", index.field(*member.field));
  }
  return one;
}

}  // namespace

Answer read_shard(Call& call) {
  for (int race = 0;; ++race) {
    LEAT_CO_TRY(store::Found found, co_await find_readable(call));
    auto loaded = co_await call.tools.indexes.find(found);
    // Replaced and cleaned away since it was found: there is a newer one.
    if (!loaded && loaded.error().code() == Errc::not_found && race < kRaces) continue;
    LEAT_CO_TRY(const shards::IndexPtr index, told_in_full(std::move(loaded)));
    LEAT_CO_TRY(const Choice choice, choose(call, index->view()));
    const std::string etag = etag_of(found.version, choice);
    const http::Representation selected{
        .etag = etag,
        .modified = WallTime(std::chrono::milliseconds(found.version.modified_ms)),
        .size_bytes = shards::total_bytes(choice.ranges) + choice.tail.size(),
        .content_type = choice.content_type};
    LEAT_CO_TRY(http::ReadAnswer answer, told(http::answer_read(call.exchange.head, selected)));
    if (answer.response.status() == 416) co_return refuse(S3Code::invalid_range);
    add_version_id(answer.response, call.bucket, found.version);
    if (answer.range) {
      set_body(call, answer.response, std::move(found), choice, *answer.range);
    }
    co_return std::move(answer.response);
  }
}

Answer list_members(Call& call) {
  LEAT_CO_TRY(const std::uint64_t start,
              call.number("start", 0, std::numeric_limits<std::uint32_t>::max()));
  LEAT_CO_TRY(const std::uint64_t max, call.number("max-members", 1000, kMembersMax));
  for (int race = 0;; ++race) {
    LEAT_CO_TRY(const store::Found found, co_await find_readable(call));
    auto loaded = co_await call.tools.indexes.find(found);
    if (!loaded && loaded.error().code() == Errc::not_found && race < kRaces) continue;
    LEAT_CO_TRY(const shards::IndexPtr index, told_in_full(std::move(loaded)));
    const shard::View& view = index->view();
    const std::uint64_t end = std::min(view.member_count(), start + max);
    json members = json::array();
    for (std::uint64_t i = start; i < end; ++i)
      members.push_back(describe(view, view.member(i)));
    json answer = {{"samples", view.sample_count()},
                   {"members", view.member_count()},
                   {"start", start},
                   {"page", std::move(members)},
                   {"next", end < view.member_count() ? json(end) : json(nullptr)}};
    Response response = Response::text(200, "application/json", answer.dump() + "\n");
    add_version_id(response, call.bucket, found.version);
    co_return response;
  }
}

}  // namespace leat::s3
