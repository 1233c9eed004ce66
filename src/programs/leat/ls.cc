#include <fmt/format.h>

#include <algorithm>

#include "leat/harmless.h"
#include "leat/json_text.h"
#include "leat/listing.h"
#include "leat/say.h"
#include "leat/several.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "s3client/operations.h"
#include "transfer/entries.h"
#include "transfer/names.h"

namespace leat::programs {
namespace {

using s3client::ObjectName;

constexpr std::array kLsSwitches = {
    Switch{"-r,--recursive", "All objects, not only the next level."},
    Switch{"-l,--long", "With ETags."},
};

constexpr std::string_view kLsEpilogue =
    "  leat ls                      buckets\n"
    "  leat ls photos/2026/         objects and prefixes below photos/2026/\n"
    "  leat ls -r photos            all objects of a bucket\n"
    "\n"
    "Columns: size, time of change (UTC), name; separated by tabs when piped. -q shows names "
    "alone.";

rt::Task<Exit> list_all_buckets(Session& session, Listing& listing) {
  LEAT_CO_TRY(const auto buckets, co_await s3client::list_buckets(session.client()));
  for (const s3client::BucketItem& bucket : buckets)
    listing.add({.type = "bucket", .name = bucket.name, .modified = bucket.created});
  listing.end();
  co_return Exit::done;
}

// Objects and groups of a page in one order.
void add_page(Listing& listing, const s3client::ObjectPage& page) {
  std::vector<Row> rows;
  for (const s3client::ListedObject& object : page.objects) {
    rows.push_back({.type = "object",
                    .name = object.key,
                    .size_bytes = object.size_bytes,
                    .modified = object.modified,
                    .etag = object.etag});
  }
  for (const std::string& group : page.groups)
    rows.push_back({.type = "prefix", .name = group});
  std::ranges::sort(rows, {}, &Row::name);
  for (const Row& row : rows)
    listing.add(row);
}

rt::Task<Exit> ls(Session& session) {
  Listing listing(session);
  if (session.words().empty()) co_return co_await list_all_buckets(session, listing);
  LEAT_CO_TRY(const auto location, transfer::parse_object(session.words().front()));
  s3client::ListQuery query{.bucket = location.object.bucket, .prefix = location.object.key};
  if (!session.arguments.has("--recursive")) query.delimiter = "/";
  while (true) {
    s3client::ListQuery next = query;
    LEAT_CO_TRY(const auto page, co_await s3client::list_objects(session.client(), next));
    add_page(listing, page);
    if (page.continuation.empty()) break;
    query.continuation = page.continuation;
  }
  listing.end();
  if (listing.count() == 0 && !location.object.key.empty()) {
    co_return fail(Errc::not_found, fmt::format("{}: nothing begins so", location.text()));
  }
  co_return Exit::done;
}

constexpr std::string_view kStatEpilogue =
    "  leat stat photos/cat.jpg\n"
    "  leat stat photos/cat.jpg --json | jq .checksum";

nlohmann::json json_of(const ObjectName& name, const s3client::ObjectHead& head) {
  nlohmann::json metadata = nlohmann::json::object();
  for (const auto& [key, value] : head.content.metadata)
    metadata[key] = value;
  nlohmann::json item = {{"type", "object"},        {"name", name.text()},
                         {"size", head.size_bytes}, {"modified", s3client::iso_time(head.modified)},
                         {"etag", head.etag},       {"content_type", head.content.type},
                         {"metadata", metadata}};
  if (head.checksum) {
    item["checksum"] = {{"algorithm", hash::word_of(head.checksum->algorithm())},
                        {"value", head.checksum->base64()}};
  }
  return item;
}

void print_head(const Session& session, const ObjectName& name, const s3client::ObjectHead& head) {
  const auto shown = [&session](const std::string& text) {
    return session.invocation.stdout_is_terminal ? harmless(text) : text;
  };
  say("name      {}\n", shown(name.text()));
  say("size      {} ({})\n", head.size_bytes, human_bytes(head.size_bytes));
  say("modified  {}\n", s3client::iso_time(head.modified));
  say("etag      {}\n", head.etag);
  say("type      {}\n", shown(head.content.type));
  if (head.checksum) {
    say("checksum  {} {}\n", hash::word_of(head.checksum->algorithm()), head.checksum->base64());
  }
  for (const auto& [key, value] : head.content.metadata)
    say("meta      {}={}\n", shown(key), shown(value));
}

rt::Task<Exit> stat_one(Session& session, std::string word) {
  LEAT_CO_TRY(const auto location, transfer::parse_object(word));
  if (location.object.key.empty()) {
    LEAT_CO_DO(co_await s3client::head_bucket(session.client(), location.object.bucket));
    if (session.wants_json()) {
      say("{}\n", json_text({{"type", "bucket"}, {"name", location.object.bucket}}));
    } else {
      say("bucket    {}\n", location.object.bucket);
    }
    co_return Exit::done;
  }
  LEAT_CO_TRY(const auto head, co_await s3client::head_object(session.client(), location.object));
  if (session.wants_json()) {
    say("{}\n", json_text(json_of(location.object, head)));
  } else {
    print_head(session, location.object, head);
  }
  co_return Exit::done;
}

rt::Task<Exit> stat(Session& session) {
  Several several(session, session.words().size());
  for (const std::string& word : session.words()) {
    auto outcome = co_await stat_one(session, word);
    several.ended(word, std::move(outcome));
  }
  co_return several.exit();
}

constexpr std::string_view kDuEpilogue =
    "  leat du                      all buckets\n"
    "  leat du photos/2026 photos/2027";

struct Usage {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};

rt::Task<Usage> count(Session& session, ObjectName name) {
  Usage usage;
  std::string prefix = transfer::folder_prefix(name);
  transfer::ObjectEntries entries(session.client(), std::move(name.bucket), std::move(prefix));
  while (true) {
    LEAT_CO_TRY(const auto entry, co_await entries.next());
    if (!entry) co_return usage;
    ++usage.objects;
    usage.bytes += entry->size_bytes;
  }
}

rt::Task<Exit> du(Session& session) {
  std::vector<ObjectName> names;
  for (const std::string& word : session.words()) {
    LEAT_CO_TRY(auto location, transfer::parse_object(word));
    names.push_back(std::move(location.object));
  }
  if (session.words().empty()) {
    LEAT_CO_TRY(const auto buckets, co_await s3client::list_buckets(session.client()));
    for (const s3client::BucketItem& bucket : buckets)
      names.push_back({bucket.name, ""});
  }
  nlohmann::json all = nlohmann::json::array();
  Several several(session, names.size(), /*has_lines=*/false);
  for (const ObjectName& name : names) {
    const auto usage = co_await count(session, name);
    Result<Exit> outcome = Exit::done;
    if (!usage) outcome = fail(usage.error().clone());
    several.ended(name.text(), std::move(outcome));
    if (!usage) continue;
    if (session.wants_json()) {
      all.push_back({{"name", name.text()}, {"objects", usage->objects}, {"bytes", usage->bytes}});
    } else if (session.invocation.stdout_is_terminal) {
      say("{:>10}  {:>12} objects  {}\n", human_bytes(usage->bytes), usage->objects,
          harmless(name.text()));
    } else {
      say("{}\t{}\t{}\n", usage->bytes, usage->objects, name.text());
    }
  }
  LEAT_CO_TRY(const Exit exit, several.exit());
  if (session.wants_json()) say("{}\n", json_text(all));
  co_return exit;
}

}  // namespace

Exit run_ls(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("ls"),
                        .positional = "BUCKET/PREFIX",
                        .positionals_max = 1,
                        .switches = kLsSwitches,
                        .is_client = true,
                        .epilogue = kLsEpilogue};
  return run_client(grammar, invocation, {ls});
}

Exit run_stat(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("stat"),
                        .positional = "BUCKET/KEY…",
                        .positionals_min = 1,
                        .positionals_max = 100'000,
                        .is_client = true,
                        .epilogue = kStatEpilogue};
  return run_client(grammar, invocation, {stat});
}

Exit run_du(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("du"),
                        .positional = "BUCKET/PREFIX…",
                        .positionals_max = 100'000,
                        .is_client = true,
                        .epilogue = kDuEpilogue};
  return run_client(grammar, invocation, {du});
}

}  // namespace leat::programs
