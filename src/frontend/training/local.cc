// Tickets for the open files of objects: who may have which, and where to take them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/encoding.h"
#include "training/calls.h"

namespace leat::training {
namespace {

using nlohmann::json;
using shards::ObjectName;

constexpr std::size_t kObjectsMax = 1000;
constexpr std::size_t kBodyMaxBytes = 2 * kMiB;

Result<ObjectName> parse_object(const json& one) {
  if (!one.is_object()) return fail(Errc::bad_request, "no JSON object");
  ObjectName name;
  for (const auto& [word, value] : one.items()) {
    if (!value.is_string()) return fail(Errc::bad_request, fmt::format("\"{}\" is no text", word));
    const auto& text = value.get_ref<const std::string&>();
    if (word == "etag") {
      name.etag = s3::without_quotes(text);
    } else if (word == "object") {
      const std::size_t slash = text.find('/');
      if (slash == text.npos) return fail(Errc::bad_request, "an object is named \"BUCKET/KEY\"");
      name.bucket = text.substr(0, slash);
      name.key = text.substr(slash + 1);
    } else {
      return fail(Errc::bad_request, fmt::format("\"{}\" is not known", word));
    }
  }
  if (name.bucket.empty() || name.key.empty()) {
    return fail(Errc::bad_request, "an object is named \"BUCKET/KEY\"");
  }
  return name;
}

Result<std::vector<ObjectName>> parse(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto objects = document.is_object() ? document.find("objects") : document.end();
  if (objects == document.end() || !objects->is_array() || document.size() != 1) {
    return fail(Errc::bad_request, "the body is {\"objects\": […]}");
  }
  if (objects->size() > kObjectsMax) {
    return fail(Errc::bad_request,
                fmt::format("{} objects are too many: {} at most", objects->size(), kObjectsMax));
  }
  std::vector<ObjectName> names;
  for (const json& one : *objects) {
    auto name = parse_object(one);
    if (!name) {
      return fail(Errc::bad_request,
                  fmt::format("object {}: {}", names.size(), name.error().detail()));
    }
    names.push_back(std::move(*name));
  }
  return names;
}

// Errors: what to say of the object; not_implemented, of one whose bytes are to be asked for.
rt::Task<store::Found> find(const s3::Call& call, const ObjectName& name) {
  ObjectName any{.bucket = name.bucket, .key = name.key};
  LEAT_CO_TRY(store::Found found, co_await find_readable(call, std::move(any)));
  if (!name.etag.empty() && found.version.etag != name.etag) {
    co_return fail(Errc::precondition_failed, "another version is there");
  }
  const auto* files = std::get_if<std::vector<record::FileExtent>>(&found.version.place);
  if (files == nullptr) co_return fail(Errc::not_implemented, "it is small: ask for its bytes");
  if (files->size() > handover::kFilesMax) {
    co_return fail(Errc::not_implemented, "it lies in too many files: ask for its bytes");
  }
  co_return found;
}

rt::Task<std::vector<passing::OpenFile>> open_files(store::ShardStore& store, store::Found found) {
  LEAT_CO_TRY(const auto files, co_await store.open_apart(found));
  std::vector<passing::OpenFile> opened;
  for (const volume::ObjectFilePtr& one : files) {
    opened.push_back(
        {.file = one->file, .part = {.size_bytes = one->tail.data_bytes, .sums = one->tail.sums}});
  }
  co_return opened;
}

json said_of(const ObjectName& name, const Error& error) {
  return {{"object", fmt::format("{}/{}", name.bucket, name.key)},
          {"status", traits(error.code()).http_status},
          {"error", traits(error.code()).name},
          {"message", error.detail()}};
}

}  // namespace

Answer open_local(const Parts& parts, http::Exchange& exchange) {
  const auto call = call_of(parts, exchange);
  LEAT_CO_TRY(const std::string text, co_await read_body(*call, kBodyMaxBytes));
  if (parts.desk == nullptr) {
    co_return fail(Errc::not_implemented, "files are passed to nobody here: local.socket is off");
  }
  LEAT_CO_TRY(const auto names, parse(text));
  // The files are opened where the desk is, when somebody comes with the ticket.
  store::ShardStore& there = call->store().store().on(parts.desk->shard());
  json objects = json::array();
  std::vector<std::size_t> admitted;
  std::vector<passing::Opener> openers;
  for (const ObjectName& name : names) {
    auto found = co_await find(*call, name);
    if (!found) {
      objects.push_back(said_of(name, found.error()));
      continue;
    }
    admitted.push_back(objects.size());
    objects.push_back({{"object", fmt::format("{}/{}", name.bucket, name.key)},
                       {"status", 200},
                       {"etag", found->version.etag},
                       {"size", found->version.size_bytes}});
    openers.emplace_back(
        [&there, one = std::move(*found)]() mutable { return open_files(there, std::move(one)); });
  }
  LEAT_CO_TRY(const auto issued,
              co_await parts.desk->issue(std::move(openers), call->store().shard()));
  for (std::size_t i = 0; i < admitted.size(); ++i) {
    json& one = objects[admitted[i]];
    if (issued[i]) {
      one["ticket"] = to_hex(*issued[i]);
    } else {
      one = said_of(names[admitted[i]], Error(Errc::busy, "too many tickets are out"));
    }
  }
  const json answer = {{"socket", parts.desk->socket()}, {"objects", std::move(objects)}};
  const auto replace = json::error_handler_t::replace;
  co_return http::Response::text(200, "application/json",
                                 answer.dump(-1, ' ', false, replace) + "\n");
}

}  // namespace leat::training
