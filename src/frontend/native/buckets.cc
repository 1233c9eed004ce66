// Buckets and listings.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "http1/uri.h"
#include "native/calls.h"
#include "native/json.h"
#include "record/keeping.h"

namespace leat::native {
namespace {

using http::Response;
using nlohmann::json;

constexpr std::size_t kListMax = 10'000;

constexpr std::pair<record::Versioning, std::string_view> kVersionings[] = {
    {record::Versioning::off, "off"},
    {record::Versioning::on, "on"},
    {record::Versioning::suspended, "suspended"},
};

// Tables of words, both ways.
template <class Value, std::size_t N>
std::string_view word_of(const std::pair<Value, std::string_view> (&table)[N], Value wanted) {
  return std::ranges::find(table, wanted, &std::pair<Value, std::string_view>::first)->second;
}
template <class Value, std::size_t N>
Result<Value> value_of(const std::pair<Value, std::string_view> (&table)[N], const json& word,
                       std::string_view rule) {
  const auto* known = std::ranges::find(table, word.get<std::string>(),
                                        &std::pair<Value, std::string_view>::second);
  if (known == std::end(table)) return fail(Errc::bad_request, std::string(rule));
  return known->first;
}

// As S3 has them: 3 to 63 of a–z, 0–9, '-' and '.', beginning and ending with a letter or digit.
bool is_bucket_name(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.size() < 3 || name.size() > 63 || !plain(name.front()) || !plain(name.back())) {
    return false;
  }
  return std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-' || c == '.'; }) &&
         name.find("..") == std::string_view::npos;
}

Result<std::string> bucket_in(const http1::RequestHead& head) {
  return http1::percent_decode(head.path.substr(kBuckets.size() + 1));
}

Result<store::BucketOptions> options_in(const std::string& text) {
  store::BucketOptions options;
  if (text.empty()) return options;
  const json body = json::parse(text, nullptr, false);
  if (!body.is_object()) return fail(Errc::bad_request, "the body is no JSON object");
  for (const auto& [key, value] : body.items()) {
    if (key == "durability" && value.is_string()) {
      const auto known = record::durability_from_word(value.get<std::string>());
      if (!known) return fail(Errc::bad_request, "durability is sync, group or relaxed");
      options.durability = *known;
    } else if (key == "versioning" && value.is_string()) {
      LEAT_TRY(options.versioning,
               value_of(kVersionings, value, "versioning is off, on or suspended"));
    } else if (key == "undo_window_ms" && value.is_number_unsigned()) {
      options.undo_window_ms = value.get<std::uint64_t>();
      if (options.undo_window_ms > record::kUndoWindowMaxMs) {
        return fail(Errc::bad_request,
                    fmt::format("undo_window_ms is at most {}", record::kUndoWindowMaxMs));
      }
    } else {
      return fail(Errc::bad_request,
                  fmt::format("\"{}\" is not known here, or has the wrong type", key));
    }
  }
  return options;
}

struct Listing {
  index::ListRequest request{};
  bool is_encoded = false;  // names are percent-encoded in the answer

  std::string shown(const std::string& name) const {
    return is_encoded ? http1::percent_encode(name, http1::Slash::keep) : name;
  }
};

Result<Listing> listing_in(const store::ShardStore& store, const http1::RequestHead& head) {
  Listing listing;
  index::ListRequest& request = listing.request;
  LEAT_TRY(const std::string name, http1::percent_decode(head.path.substr(kList.size())));
  LEAT_TRY(const record::Bucket bucket, store.find_bucket(name));
  request.bucket = bucket.id;
  LEAT_TRY(const auto query, http1::parse_query(head.query));
  for (const auto& [key, value] : query) {
    if (key == "prefix") {
      request.prefix = value;
    } else if (key == "delimiter") {
      request.delimiter = value;
    } else if (key == "after") {
      request.after = value;
    } else if (key == "encoding") {
      if (value != "url") return fail(Errc::bad_request, "encoding is url");
      listing.is_encoded = true;
    } else if (key == "max") {
      const char* end = value.data() + value.size();
      const auto parsed = std::from_chars(value.data(), end, request.max);
      if (parsed.ec != std::errc{} || parsed.ptr != end || request.max > kListMax) {
        return fail(Errc::bad_request, fmt::format("max is 0…{}", kListMax));
      }
    } else {
      return fail(Errc::bad_request, fmt::format("\"{}\" is not known here", key));
    }
  }
  return listing;
}

}  // namespace

Answer list_buckets(store::ShardStore& store, http::Exchange& /*exchange*/) {
  json list = json::array();
  const store::BucketTablePtr table = store.buckets();
  for (const record::Bucket& bucket : table->all()) {
    LEAT_CO_TRY(const index::Counts counts, co_await store.counts(bucket.id));
    list.push_back({{"name", bucket.name},
                    {"created_ms", bucket.created_ms},
                    {"durability", record::word_of(bucket.durability)},
                    {"versioning", word_of(kVersionings, bucket.versioning)},
                    {"undo_window_ms", bucket.undo_window_ms},
                    {"objects", counts.objects},
                    {"bytes", counts.bytes},
                    {"trashed_objects", counts.trashed_objects},
                    {"trashed_bytes", counts.trashed_bytes},
                    {"kept_versions", counts.kept_versions},
                    {"kept_bytes", counts.kept_bytes}});
  }
  const json answer = {{"buckets", std::move(list)}};
  co_return json_answer(200, answer);
}

Answer create_bucket(store::ShardStore& store, http::Exchange& exchange) {
  LEAT_CO_TRY(const std::string name, bucket_in(exchange.head));
  if (!is_bucket_name(name)) {
    co_return fail(Errc::bad_request,
                   "a bucket's name has 3 to 63 of a-z, 0-9, '-' and '.', and begins and ends with "
                   "a letter or a digit");
  }
  LEAT_CO_TRY(const std::string body, co_await read_text(exchange.body, kBodyMaxBytes));
  LEAT_CO_TRY(auto options, options_in(body));
  LEAT_CO_TRY(const auto bucket, co_await store.create_bucket(name, std::move(options)));
  const json answer = {{"name", bucket.name},
                       {"durability", record::word_of(bucket.durability)},
                       {"versioning", word_of(kVersionings, bucket.versioning)},
                       {"undo_window_ms", bucket.undo_window_ms}};
  co_return json_answer(201, answer);
}

Answer remove_bucket(store::ShardStore& store, http::Exchange& exchange) {
  LEAT_CO_TRY(std::string name, bucket_in(exchange.head));
  LEAT_CO_DO(co_await store.remove_bucket(std::move(name)));
  co_return Response(204);
}

Answer list_objects(store::ShardStore& store, http::Exchange& exchange) {
  LEAT_CO_TRY(auto listing, listing_in(store, exchange.head));
  LEAT_CO_TRY(const index::ListPage page, co_await store.list(std::move(listing.request)));
  json objects = json::array();
  json groups = json::array();
  for (const index::ListItem& item : page.items) {
    if (!item.version) {
      groups.push_back(listing.shown(item.name));
      continue;
    }
    objects.push_back({{"key", listing.shown(item.name)},
                       {"size", item.version->size_bytes},
                       {"etag", item.version->etag},
                       {"modified_ms", item.version->modified_ms},
                       {"version", item.version->id.value()}});
  }
  json answer = {{"objects", std::move(objects)},
                 {"groups", std::move(groups)},
                 {"is_truncated", page.is_truncated}};
  if (page.is_truncated) {
    answer["next_after"] = http1::percent_encode(page.items.back().name, http1::Slash::keep);
  }
  co_return json_answer(200, answer);
}

}  // namespace leat::native
