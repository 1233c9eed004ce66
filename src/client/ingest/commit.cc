#include "ingest/commit.h"

#include <fmt/format.h>

#include <set>

#include "dataset/json_call.h"

namespace leat::ingest {
namespace {

using dataset::AnswerReader;
using dataset::NativeCall;
using nlohmann::json;

NativeCall call_for(const std::string& dataset, std::string method, std::string query = {}) {
  NativeCall call{.method = std::move(method), .path = "datasets/" + dataset};
  if (!query.empty()) call.query.push_back({std::move(query), ""});
  return call;
}

// The service is no Leat, or an old one: it takes the path for an object.
Error explained(const Error& error) {
  const bool is_foreign = error.code() == Errc::not_implemented ||
                          error.detail().find("NoSuchBucket") != std::string_view::npos ||
                          error.detail().find("InvalidBucketName") != std::string_view::npos;
  if (!is_foreign) return error.clone();
  return {Errc::not_implemented,
          fmt::format("{}; the service knows no datasets: --objects sends one object a file",
                      error.detail())};
}

rt::Task<json> ask(s3client::S3Client& client, NativeCall call, json body = nullptr) {
  auto document = co_await dataset::call_json(client, std::move(call), std::move(body));
  if (!document) co_return fail(explained(document.error()));
  co_return document;
}

rt::Task<std::vector<std::string>> list_shards(s3client::S3Client& client, std::string dataset,
                                               std::uint64_t version) {
  std::vector<std::string> keys;
  std::string after;
  while (true) {
    NativeCall call = call_for(fmt::format("{}@{}", dataset, version), "GET", "shards");
    if (!after.empty()) call.query.push_back({"after", after});
    LEAT_CO_TRY(const json page, co_await ask(client, std::move(call)));
    AnswerReader answer(page);
    for (const json& shard : answer.list("shards")) {
      AnswerReader entry(shard);
      keys.push_back(entry.name("key"));
      LEAT_CO_DO(entry.status());
    }
    LEAT_CO_DO(answer.status());
    const auto next = page.find("next");
    if (next == page.end() || next->is_null()) co_return keys;
    after = next->is_string() ? next->get<std::string>() : next->dump();
  }
}

json body_of(const Standing& standing, const NewVersion& next) {
  const std::set<std::string> there(standing.shards.begin(), standing.shards.end());
  const std::set<std::string> wanted(next.shards.begin(), next.shards.end());
  json body = {{"message", dataset::as_utf8(next.message)}, {"transaction", next.transaction}};
  body["add"] = json::array();
  for (const std::string& key : next.shards) {
    if (!there.contains(key)) body["add"].push_back(key);
  }
  if (!next.replaces) return body;
  body["base"] = *next.replaces;
  // Of an empty version nothing is removed: without this the shards would be added to what somebody
  // else has committed meanwhile.
  body["exact"] = true;
  body["remove"] = json::array();
  for (const std::string& key : standing.shards) {
    if (!wanted.contains(key)) body["remove"].push_back(key);
  }
  return body;
}

// The dataset has these shards already.
Result<Committed> unchanged(const Standing& standing, const NewVersion& next) {
  if (next.replaces && standing.samples != next.samples) {
    return fail(Errc::conflict,
                fmt::format("{} has these shards, but samples of them were deleted; `leat dataset "
                            "restore` brings an older version back",
                            next.dataset));
  }
  return Committed{.is_new = false,
                   .version = standing.version,
                   .samples = standing.samples,
                   .shards = standing.shards.size(),
                   .bytes = standing.bytes};
}

}  // namespace

rt::Task<Standing> look_at_dataset(s3client::S3Client& client, std::string dataset) {
  Standing standing;
  NativeCall describing = call_for(dataset, "GET");
  const auto info = co_await ask(client, std::move(describing));
  if (!info && info.error().code() == Errc::not_found) co_return standing;
  if (!info) co_return fail(info.error());
  standing.exists = true;
  AnswerReader answer(*info);
  standing.version = answer.number("version");
  standing.transaction = answer.text("transaction");
  standing.samples = answer.number("samples");
  standing.bytes = answer.number("bytes");
  LEAT_CO_DO(answer.status());
  if (standing.version == 0) co_return standing;
  LEAT_CO_TRY(standing.shards, co_await list_shards(client, dataset, standing.version));
  co_return standing;
}

rt::Task<bool> ends_with(s3client::S3Client& client, std::string dataset, Committed version,
                         std::string key) {
  if (version.shards == 0) co_return false;
  NativeCall call = call_for(fmt::format("{}@{}", dataset, version.version), "GET", "shards");
  call.query.push_back({"after", fmt::to_string(version.shards - 1)});
  LEAT_CO_TRY(const json page, co_await ask(client, std::move(call)));
  AnswerReader answer(page);
  const json& shards = answer.list("shards");
  LEAT_CO_DO(answer.status());
  if (shards.empty()) co_return false;
  AnswerReader last(shards.back());
  co_return last.name("key") == key;
}

rt::Task<Committed> commit_version(s3client::S3Client& client, const Standing& standing,
                                   NewVersion next) {
  if (!standing.exists) {
    NativeCall making = call_for(next.dataset, "PUT");
    const auto made = co_await ask(client, std::move(making));
    // Somebody else may have made it a moment ago.
    if (!made && made.error().code() != Errc::conflict) co_return fail(made.error());
  }
  json body = body_of(standing, next);
  const bool changes = !body["add"].empty() || (next.replaces && !body["remove"].empty());
  if (!changes) co_return unchanged(standing, next);
  NativeCall call = call_for(next.dataset, "POST", "commit");
  LEAT_CO_TRY(const json done, co_await ask(client, std::move(call), std::move(body)));
  AnswerReader answer(done);
  const Committed committed{.version = answer.number("version"),
                            .samples = answer.number("samples"),
                            .shards = answer.number("shards"),
                            .bytes = answer.number("bytes")};
  LEAT_CO_DO(answer.status());
  co_return committed;
}

}  // namespace leat::ingest
