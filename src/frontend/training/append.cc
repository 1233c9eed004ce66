// Appends: a tar of samples becomes a shard that waits for a commit.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/encoding.h"
#include "s3/transfer.h"
#include "store/shards.h"
#include "training/request.h"

namespace leat::training {
namespace {

using datasets::AppendState;
using datasets::Commit;
using datasets::DatasetName;
using nlohmann::json;

constexpr std::uint64_t kSequenceMax = 999'999'999'999;

struct Body {
  std::string producer{};
  std::uint64_t sequence = 0;
  std::string etag{};
  std::uint64_t size_bytes = 0;
  std::uint64_t samples = 0;
  bool is_repeated = false;
};

Status check_samples(const shard::Summary& seen) {
  if (!seen.is_shard) {
    return fail(Errc::bad_request, fmt::format("the body is no tar that can be indexed: {}",
                                               seen.problem.empty() ? "no tar" : seen.problem));
  }
  if (!seen.problem.empty()) return fail(Errc::bad_request, seen.problem);
  if (seen.samples == 0) return fail(Errc::bad_request, "the tar has no samples");
  return {};
}

// In this API's words.
template <class T>
Result<T> told(s3::S3Result<T>&& result) {
  if (result) return *std::move(result);
  const int status = s3error::http_status(result.error().code);
  const Errc code = status == 403 ? Errc::denied : Errc::bad_request;
  return fail(status >= 500 ? Errc::internal : code, result.error().message);
}

// What is there under the name already: the same bytes, or others.
rt::Task<void> compare(Request& request, const record::ObjectKey& object, Body& body) {
  auto found = co_await request.parts.s3.store.find(object);
  // It was committed once, and has been compacted or vacuumed since.
  if (!found && found.error().code() == Errc::not_found) co_return Status{};
  if (!found) co_return fail(found.error());
  if (found->version.etag != body.etag) {
    co_return fail(Errc::conflict, fmt::format("the producer {} has sent other bytes as number {}",
                                               body.producer, body.sequence));
  }
  if (const auto note = store::shard_note(found->version)) body.samples = note->samples;
  co_return Status{};
}

rt::Task<void> store_body(Request& request, const record::ObjectKey& object, bool is_committed,
                          Body& body) {
  s3::Call& call = *request.call;
  const http1::RequestHead& head = call.exchange.head;
  const s3body::HttpFraming framing{.content_length = head.content_length, .chunked = head.chunked};
  LEAT_CO_TRY(auto plan,
              told(s3body::plan_upload(call.caller.request, call.caller.payload, framing)));
  const std::optional<std::uint64_t> size = plan.size;
  if (size.value_or(0) > s3::kPutMaxBytes) co_return fail(Errc::too_large, "more than 5 GiB");
  LEAT_CO_TRY(auto reader, told(s3body::BodyReader::create(std::move(plan), call.caller.chain)));
  LEAT_CO_TRY(auto put, co_await request.parts.s3.store.begin_put(object, size));
  auto receiving = s3::receive(call, *put, reader);
  LEAT_CO_TRY(const auto digests, told(co_await std::move(receiving)));
  LEAT_CHECK(digests.md5.has_value());  // plan_upload() asks for it
  body.etag = to_hex(*digests.md5);
  body.size_bytes = put->size_bytes();
  body.is_repeated = is_committed;
  if (is_committed) co_return co_await compare(request, object, body);
  store::PutDetails details{.etag = body.etag, .judge = check_samples};
  details.attributes = {
      {.name = "content-type", .value = "application/x-tar"},
      {.name = std::string(datasets::kDatasetAttribute), .value = request.reference.dataset.name}};
  details.precondition.must_be_absent = true;
  const auto version = co_await put->finish(std::move(details));
  if (version) {
    if (const auto note = store::shard_note(*version)) body.samples = note->samples;
    co_return Status{};
  }
  if (version.error().code() != Errc::precondition_failed) co_return fail(version.error());
  body.is_repeated = true;
  co_return co_await compare(request, object, body);
}

}  // namespace

Answer append_samples(Request& request) {
  LEAT_CO_DO(request.allow({"append", "producer", "sequence", "commit"}));
  const DatasetName& name = request.reference.dataset;
  Body body{.producer = request.query("producer").value_or("")};
  LEAT_CO_DO(datasets::check_producer(body.producer));
  LEAT_CO_TRY(body.sequence, request.number("sequence", 0, kSequenceMax + 1));
  if (body.sequence == 0 || body.sequence > kSequenceMax) {
    co_return fail(Errc::bad_request, "?sequence counts the bodies of a producer, from 1");
  }
  LEAT_CO_TRY(const AppendState state, co_await request.parts.datasets.appends(name));
  if (state.committed.size() >= datasets::kProducersMax &&
      !state.committed.contains(body.producer)) {
    co_return fail(Errc::bad_request, fmt::format("{} has {} producers; that is enough",
                                                  name.text(), datasets::kProducersMax));
  }
  LEAT_CO_TRY(const record::BucketId bucket, request.parts.datasets.find_bucket(name));
  const record::ObjectKey object{.bucket = bucket,
                                 .key = append_key(name, state, body.producer, body.sequence)};
  const bool is_committed = body.sequence <= state.committed_of(body.producer);
  LEAT_CO_DO(co_await store_body(request, object, is_committed, body));
  json answer = {{"key", object.key},         {"sequence", body.sequence},
                 {"size", body.size_bytes},   {"samples", body.samples},
                 {"committed", is_committed}, {"repeated", body.is_repeated}};
  if (request.query("commit")) {
    std::vector<Commit> commits;
    commits.push_back({.dataset = name, .appended = true});
    LEAT_CO_TRY(const auto done, co_await request.parts.datasets.commit(std::move(commits)));
    LEAT_CO_TRY(const AppendState now, co_await request.parts.datasets.appends(name));
    answer["version"] = done.front().ref.version;
    answer["committed"] = body.sequence <= now.committed_of(body.producer);
  }
  co_return json_answer(200, answer);
}

}  // namespace leat::training
