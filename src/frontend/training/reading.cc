// Reading datasets over HTTP: docs/reference/datasets.md.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "http/representation.h"
#include "snapshot/diff.h"
#include "stored/body.h"
#include "stored/names.h"
#include "training/request.h"

namespace leat::training {
namespace {

using datasets::DatasetName;
using datasets::Opened;
using datasets::Reference;
using datasets::SnapshotReader;
using nlohmann::json;

constexpr std::uint64_t kPageMax = 10'000;
constexpr std::uint64_t kPage = 1000;
constexpr int kRaces = 10;

Answer send_snapshot(Request& request, const Opened& opened) {
  for (int race = 0;; ++race) {
    auto found = co_await request.parts.datasets.find_snapshot(opened);
    if (!found) co_return fail(found.error());
    const std::string etag = fmt::format("\"{}\"", opened.record.snapshot.fingerprint);
    const http::Representation selected{
        .etag = etag,
        .modified = WallTime(std::chrono::milliseconds(opened.record.committed_ms)),
        .size_bytes = found->version.size_bytes,
        .content_type = "application/vnd.leat.snapshot"};
    LEAT_CO_TRY(http::ReadAnswer answer, http::answer_read(request.exchange.head, selected));
    answer.response.add_checked(fmt::format("x-leat-dataset-version: {}\r\n", opened.ref.version));
    if (answer.range) {
      const volume::ByteRange range{.offset = answer.range->offset, .length = answer.range->length};
      auto body = co_await request.parts.s3.store.read(*found, range);
      if (!body && body.error().code() == Errc::not_found && race < kRaces) continue;
      if (!body) co_return fail(body.error());
      stored::set_body(answer.response, std::move(*body), range.length);
    }
    co_return std::move(answer.response);
  }
}

rt::Task<json> describe_sample(SnapshotReader& reader, std::string key) {
  LEAT_CO_TRY(const auto found, co_await reader.find(key));
  if (!found) co_return fail(Errc::not_found, fmt::format("no sample {:?}", key));
  const snapshot::Catalog& catalog = reader.catalog();
  LEAT_CO_TRY(const snapshot::ShardEntry shard, catalog.shard(found->shard));
  json fields = json::object();
  for (std::size_t i = 0; i < found->fields.size(); ++i) {
    if (!found->fields[i]) continue;
    fields[catalog.fields()[i]] = {{"offset", found->fields[i]->offset},
                                   {"size", found->fields[i]->size_bytes}};
  }
  json one = {{"row", found->row},        {"shard_number", found->shard},
              {"shard_etag", shard.etag}, {"start", found->start},
              {"end", found->end},        {"fields", std::move(fields)},
              {"bucket", shard.bucket}};
  stored::add_name(one, "sample", key);
  stored::add_name(one, "shard", shard.key);
  co_return one;
}

rt::Task<json> list_samples(const Request& request, SnapshotReader& reader, std::uint64_t max) {
  auto listing =
      reader.list(request.query("prefix").value_or(""), request.query("after").value_or(""), max);
  LEAT_CO_TRY(const datasets::KeyListing found, co_await std::move(listing));
  json page = json::array();
  for (const datasets::KeyEntry& entry : found.page) {
    json one = {{"row", entry.row}};
    stored::add_name(one, "sample", entry.key);
    page.push_back(std::move(one));
  }
  json answer = {{"samples", reader.sample_count()}, {"page", std::move(page)}};
  answer["next"] = nullptr;
  if (found.is_truncated && !found.page.empty()) {
    stored::add_name(answer, "next", found.page.back().key);
  }
  co_return answer;
}

Result<json> list_shards(const Request& request, const snapshot::Catalog& catalog,
                         std::uint64_t max) {
  const std::uint32_t count = catalog.footer().shards;
  LEAT_TRY(const std::uint64_t first, request.number("after", 0, count));
  const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, first + max));
  json page = json::array();
  for (auto i = static_cast<std::uint32_t>(first); i < end; ++i) {
    LEAT_TRY(const snapshot::ShardEntry shard, catalog.shard(i));
    LEAT_TRY(const snapshot::Row begin, catalog.first_row_of_shard(i));
    LEAT_TRY(const snapshot::Row next, catalog.first_row_of_shard(i + 1));
    json one = {{"number", i},
                {"bucket", shard.bucket},
                {"size", shard.size_bytes},
                {"etag", shard.etag},
                {"samples", next - begin},
                {"kind", shard.is_recipe ? "objects" : "tar"}};
    stored::add_name(one, "key", shard.key);
    page.push_back(std::move(one));
  }
  return json{{"count", count},
              {"shards", std::move(page)},
              {"next", end < count ? json(end) : json(nullptr)}};
}

std::string_view name_of(snapshot::Difference difference) {
  switch (difference) {
    case snapshot::Difference::added: return "added";
    case snapshot::Difference::removed: return "removed";
    case snapshot::Difference::changed: return "changed";
    case snapshot::Difference::moved: return "moved";
  }
  return "";
}

Result<json> differences(const snapshot::View& before, const snapshot::View& after,
                         std::uint64_t max) {
  json page = json::array();
  json counts = {{"added", 0}, {"removed", 0}, {"changed", 0}, {"moved", 0}};
  LEAT_DO(snapshot::diff(before, after, [&](const snapshot::DiffEntry& entry) {
    const std::string name(name_of(entry.difference));
    counts[name] = counts[name].get<std::uint64_t>() + 1;
    if (page.size() < max) {
      json one = {{"difference", name}};
      stored::add_name(one, "sample", entry.key);
      page.push_back(std::move(one));
    }
    return true;
  }));
  counts["page"] = std::move(page);
  return counts;
}

Answer read_log(Request& request, const Opened& opened) {
  LEAT_CO_TRY(const std::uint64_t max, request.number("max", kPage, kPageMax));
  LEAT_CO_TRY(const auto records, co_await request.parts.datasets.log(opened, max));
  json all = json::array();
  for (const datasets::CommitRecord& record : records)
    all.push_back(json_of(record));
  co_return json_answer(200, {{"dataset", opened.dataset.text()}, {"versions", std::move(all)}});
}

Answer read_tags(Request& request, const Opened& opened) {
  LEAT_CO_TRY(const auto tags, co_await request.parts.datasets.tags(opened.dataset));
  json all = json::object();
  for (const auto& one : tags)
    all[one.tag] = one.version;
  co_return json_answer(200, {{"dataset", opened.dataset.text()}, {"tags", std::move(all)}});
}

Answer read_pins(Request& request, const Opened& opened) {
  LEAT_CO_TRY(const auto pins, co_await request.parts.datasets.pins(opened.dataset));
  json all = json::object();
  for (const auto& one : pins)
    all[one.tag] = one.version;
  co_return json_answer(200, {{"dataset", opened.dataset.text()}, {"pins", std::move(all)}});
}

Answer read_diff(Request& request, const Opened& opened, const std::string& other,
                 std::uint64_t max) {
  LEAT_CO_TRY(Reference reference,
              datasets::parse_reference(fmt::format("{}@{}", opened.dataset.text(), other)));
  LEAT_CO_TRY(const Opened before, co_await request.parts.datasets.open(std::move(reference)));
  LEAT_CO_TRY(const auto old, co_await request.parts.datasets.snapshot(before));
  LEAT_CO_TRY(const auto now, co_await request.parts.datasets.snapshot(opened));
  auto& pool = request.parts.s3.store.kit().pool;
  auto comparing =
      pool.run<json>([&old, &now, max] { return differences(old->view(), now->view(), max); });
  LEAT_CO_TRY(const json found, co_await std::move(comparing));
  co_return json_answer(200, found);
}

// What needs the snapshot.
Answer read_inside(Request& request, const Opened& opened) {
  if (opened.ref.version == 0) co_return fail(Errc::not_found, "the dataset has no version yet");
  LEAT_CO_TRY(const std::uint64_t max, request.number("max", kPage, kPageMax));
  if (const auto other = request.query("diff")) {
    co_return co_await read_diff(request, opened, *other, max);
  }
  LEAT_CO_TRY(const auto reader, co_await request.parts.datasets.reader(opened));
  if (const auto key = request.query("sample")) {
    LEAT_CO_TRY(const json one, co_await describe_sample(*reader, *key));
    co_return json_answer(200, one);
  }
  if (request.query("samples")) {
    LEAT_CO_TRY(const json page, co_await list_samples(request, *reader, max));
    co_return json_answer(200, page);
  }
  LEAT_CO_TRY(const json shards, list_shards(request, reader->catalog(), max));
  co_return json_answer(200, shards);
}

}  // namespace

Answer list_datasets(const Parts& parts, http::Exchange& exchange) {
  Request request(parts, exchange);
  LEAT_CO_DO(request.parse_query());
  LEAT_CO_DO(request.allow({"bucket"}));
  LEAT_CO_TRY(const auto names, co_await parts.datasets.list(request.query("bucket").value_or("")));
  json all = json::array();
  for (const DatasetName& name : names) {
    if (request.may(access::Action::get_object, name)) all.push_back(name.text());
  }
  co_return json_answer(200, {{"datasets", std::move(all)}});
}

Answer read_dataset(const Parts& parts, http::Exchange& exchange) {
  Request request(parts, exchange);
  LEAT_CO_DO(request.parse());
  LEAT_CO_DO(request.allow({"log", "tags", "pins", "lint", "snapshot", "sample", "samples",
                            "shards", "diff", "prefix", "after", "max"}));
  LEAT_CO_DO(request.may(access::Action::get_object, request.reference.dataset));
  LEAT_CO_TRY(const Opened opened, co_await parts.datasets.open(request.reference));
  if (!request.inside.empty()) co_return co_await read_virtual_shard(request, opened);
  if (request.query("log")) co_return co_await read_log(request, opened);
  if (request.query("tags")) co_return co_await read_tags(request, opened);
  if (request.query("pins")) co_return co_await read_pins(request, opened);
  if (request.query("lint")) co_return co_await lint_dataset(request, opened);
  if (request.query("snapshot")) {
    if (opened.ref.version == 0) co_return fail(Errc::not_found, "the dataset has no version yet");
    co_return co_await send_snapshot(request, opened);
  }
  if (request.query("sample") || request.query("samples") || request.query("shards") ||
      request.query("diff")) {
    co_return co_await read_inside(request, opened);
  }
  co_return json_answer(200, json_of(opened));
}

}  // namespace leat::training
