#include "dataset/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hash/checksum.h"

namespace leat::dataset {
namespace {

using nlohmann::json;

bool makes_a_version(const NativeCall& call) {
  const auto is_such = [](const http1::QueryPair& pair) {
    return pair.name == "commit" || pair.name == "adopt";
  };
  return call.method == "POST" && call.path.starts_with("datasets") &&
         std::ranges::any_of(call.query, is_such);
}

// A body that is something else than the service expects stays as it is: the service says why.
std::string with_transactions(const std::string& body, io::Rng& rng) {
  json document = json::parse(body.empty() ? "{}" : body, nullptr, /*allow_exceptions=*/false);
  const std::string transaction = fmt::format("call-{:016x}", rng.next());
  const auto add = [&transaction](json& commit) {
    if (commit.is_object() && !commit.contains("transaction")) commit["transaction"] = transaction;
  };
  if (!document.is_object()) return body;
  if (!document.contains("commits")) {
    add(document);
  } else if (document["commits"].is_array()) {
    std::ranges::for_each(document["commits"], add);
  }
  return document.dump();
}

}  // namespace

s3client::Request native_request(const NativeCall& call) {
  s3client::Request request{.method = call.method,
                            .name = {.bucket = "_", .key = "v1/" + call.path},
                            .query = call.query};
  if (call.body.empty()) return request;
  hash::Checksum checksum(hash::ChecksumAlgorithm::crc64nvme);
  checksum.update(as_bytes(call.body));
  request.fields = {{"Content-Type", "application/json"},
                    {"x-amz-checksum-crc64nvme", checksum.finish().base64()}};
  request.body = as_bytes(call.body);
  return request;
}

rt::Task<std::string> call_native(s3client::S3Client& client, NativeCall call) {
  if (makes_a_version(call)) call.body = with_transactions(call.body, client.rng());
  const s3client::Request request = native_request(call);
  LEAT_CO_TRY(s3client::Answer answer, co_await client.ask(request));
  co_return std::move(answer.body);
}

Result<NativeCall> native_target(std::string_view target) {
  NativeCall call;
  const std::size_t mark = std::min(target.find('?'), target.size());
  LEAT_TRY(call.path, http1::percent_decode(target.substr(0, mark)));
  if (mark < target.size()) {
    LEAT_TRY(call.query, http1::parse_query(target.substr(mark + 1)));
  }
  return call;
}

}  // namespace leat::dataset
