#include "expiry/sweeper.h"

#include <algorithm>
#include <utility>

#include "expiry/object_tags.h"

namespace leat::expiry {
namespace {

// The longest nap: how soon stop() is noticed.
constexpr Duration kNap = std::chrono::milliseconds(200);
constexpr Duration kPeriodMin = std::chrono::milliseconds(50);
constexpr std::size_t kPage = 256;
constexpr std::uint64_t kRemovalLooks = 40;

const std::string* rules_of(const record::Bucket& bucket) {
  const auto found =
      std::ranges::find(bucket.properties, lifecycle::kProperty, &record::Attribute::name);
  return found == bucket.properties.end() ? nullptr : &found->value;
}

// Somebody else was faster: what was to be removed is not there any more, or not the same.
bool is_overtaken(const Error& error) {
  return error.code() == Errc::not_found || error.code() == Errc::precondition_failed;
}

}  // namespace

Sweeper::Sweeper(store::ShardStore& store, SweeperTools tools, SweeperOptions options)
    : store_(store),
      tools_(tools),
      options_(options),
      looking_(tools.clock, options.looks_per_second),
      objects_(tools.metrics.counter("leat_lifecycle_expired_objects_total",
                                     "Objects that lifecycle rules removed.")),
      versions_(tools.metrics.counter("leat_lifecycle_expired_versions_total",
                                      "Old versions and markers that lifecycle rules removed.")),
      uploads_(tools.metrics.counter("leat_lifecycle_aborted_uploads_total",
                                     "Unfinished uploads that lifecycle rules aborted.")) {}

std::int64_t Sweeper::day_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(options_.day).count();
}

void Sweeper::start() {
  auto pass = gate_.enter();
  if (!pass) return;
  store_.shard().spawn(loop(std::move(*pass)), [](const Status&) {});
}

rt::Task<bool> Sweeper::rest(Duration duration) {
  const Instant end = tools_.clock.now() + duration;
  while (!gate_.is_closing() && tools_.clock.now() < end) {
    const Instant wake = std::min(end, tools_.clock.now() + kNap);
    LEAT_CO_DO(co_await tools_.clock.sleep_until(wake));
  }
  co_return !gate_.is_closing();
}

rt::Task<void> Sweeper::loop(rt::Gate::Pass /*pass*/) {
  for (;;) {
    LEAT_CO_TRY(const bool go_on, co_await rest(std::max(options_.day / 24, kPeriodMin)));
    if (!go_on) co_return Status{};
    LEAT_CO_DO(co_await sweep());
  }
}

rt::Task<Swept> Sweeper::sweep() {
  Swept all;
  const store::BucketTablePtr table = store_.buckets();
  for (const record::Bucket& bucket : table->all()) {
    if (rules_of(bucket) == nullptr || gate_.is_closing()) continue;
    Swept swept;
    const Status done = co_await sweep_bucket(bucket, swept);
    if (swept.total() > 0) {
      tools_.logger.info("lifecycle rules removed what was due", {{"bucket", bucket.name},
                                                                  {"objects", swept.objects},
                                                                  {"versions", swept.versions},
                                                                  {"uploads", swept.uploads}});
    }
    if (!done) {
      tools_.logger.error("lifecycle rules could not be carried out",
                          {{"bucket", bucket.name}, {"error", done.error()}});
    }
    all.objects += swept.objects;
    all.versions += swept.versions;
    all.uploads += swept.uploads;
  }
  co_return all;
}

bool Sweeper::is_current(const record::Bucket& bucket) const {
  if (gate_.is_closing()) return false;
  const store::BucketTablePtr table = store_.buckets();
  const record::Bucket* now = table->find(bucket.id);
  const std::string* text = now != nullptr ? rules_of(*now) : nullptr;
  return text != nullptr && *text == *rules_of(bucket);
}

rt::Task<void> Sweeper::sweep_bucket(const record::Bucket& bucket, Swept& swept) {
  auto rules = lifecycle::parse_lifecycle(*rules_of(bucket));
  if (!rules) co_return fail(Errc::corrupt, "the rules cannot be read: " + rules.error().message);
  if (lifecycle::expires_objects(*rules)) {
    LEAT_CO_DO(co_await sweep_objects(bucket, *rules, swept));
  }
  if (lifecycle::aborts_uploads(*rules)) {
    LEAT_CO_DO(co_await sweep_uploads(bucket, *rules, swept));
  }
  if (std::ranges::any_of(*rules, &lifecycle::Rule::is_about_versions)) {
    LEAT_CO_DO(co_await sweep_versions(bucket, *rules, swept));
  }
  co_return Status{};
}

rt::Task<void> Sweeper::sweep_objects(const record::Bucket& bucket, const Rules& rules,
                                      Swept& swept) {
  std::string after;
  for (bool is_more = true; is_more && is_current(bucket);) {
    index::ListRequest request{.bucket = bucket.id,
                               .prefix = lifecycle::common_prefix(rules),
                               .after = after,
                               .max = kPage};
    auto listing = store_.list(std::move(request));
    LEAT_CO_TRY(const index::ListPage page, co_await std::move(listing));
    for (const index::ListItem& item : page.items) {
      if (gate_.is_closing()) co_return Status{};
      const auto tags = tags_of(item.version->attributes);
      const lifecycle::Object object{.key = item.name,
                                     .size_bytes = item.version->size_bytes,
                                     .modified_ms = item.version->modified_ms,
                                     .tags = tags};
      const auto due = lifecycle::expiry_of(rules, object, day_ms());
      LEAT_CO_DO(co_await looking_.spend(1));
      if (!due || due->at_ms > store_.now_ms()) continue;
      record::ObjectKey key{.bucket = bucket.id, .key = item.name};
      LEAT_CO_DO(co_await remove(std::move(key), *item.version, swept));
    }
    is_more = page.is_truncated && !page.items.empty();
    if (is_more) after = page.items.back().name;
    // A store that never makes us wait must not keep the shard from others.
    LEAT_CO_DO(co_await rt::yield());
  }
  co_return Status{};
}

rt::Task<void> Sweeper::remove(record::ObjectKey object, const record::Version& version,
                               Swept& swept) {
  volume::Precondition same{.version = version.id};
  tools_.logger.debug("an object expires", {{"key", object.key}});
  auto removing = store_.remove(std::move(object), std::move(same));
  const auto removed = co_await std::move(removing);
  if (!removed && !is_overtaken(removed.error())) co_return fail(removed.error());
  if (removed) {
    ++swept.objects;
    objects_.add(1);
  }
  co_return co_await looking_.spend(kRemovalLooks);
}

rt::Task<void> Sweeper::sweep_uploads(const record::Bucket& bucket, const Rules& rules,
                                      Swept& swept) {
  index::UploadsRequest request{.bucket = bucket.id, .max = kPage};
  for (bool is_more = true; is_more && is_current(bucket);) {
    LEAT_CO_TRY(const auto uploads, co_await store_.list_uploads(request));
    LEAT_CO_DO(co_await abort_due(bucket, rules, uploads, swept));
    is_more = uploads.size() == request.max;
    if (!is_more) break;
    request.from = uploads.back().object.key;
    request.behind = uploads.back().id;
  }
  co_return Status{};
}

rt::Task<void> Sweeper::abort_due(const record::Bucket& bucket, const Rules& rules,
                                  const std::vector<record::Upload>& uploads, Swept& swept) {
  for (const record::Upload& upload : uploads) {
    if (!is_current(bucket)) break;
    const auto due = lifecycle::abort_of(rules, upload.object.key, upload.begun_ms, day_ms());
    if (!due || due->at_ms > store_.now_ms()) continue;
    tools_.logger.debug("an upload expires", {{"key", upload.object.key}});
    auto aborting = store_.abort_upload(upload.object, upload.id);
    const Status aborted = co_await std::move(aborting);
    if (!aborted && !is_overtaken(aborted.error())) co_return fail(aborted.error());
    if (aborted) {
      ++swept.uploads;
      uploads_.add(1);
    }
    LEAT_CO_DO(co_await looking_.spend(kRemovalLooks));
  }
  co_return Status{};
}

rt::Task<void> Sweeper::sweep_versions(const record::Bucket& bucket, const Rules& rules,
                                       Swept& swept) {
  store::VersionsRequest request{.keys = {.bucket = bucket.id, .max = kPage}};
  std::vector<store::VersionItem> history;  // of one key, as far as it was read
  for (bool is_more = true; is_more && is_current(bucket);) {
    LEAT_CO_TRY(auto page, co_await store_.list_versions(request));
    LEAT_CO_DO(co_await looking_.spend(page.items.size()));
    is_more = page.is_truncated && !page.items.empty();
    if (is_more) {
      request.keys.after = page.items.back().name;
      request.after = store::name_of(*page.items.back().version);
    }
    for (store::VersionItem& item : page.items) {
      if (!history.empty() && history.front().name != item.name) {
        const record::ObjectKey object{.bucket = bucket.id, .key = history.front().name};
        auto read = std::exchange(history, {});
        LEAT_CO_DO(co_await sweep_history(object, rules, std::move(read), swept));
      }
      history.push_back(std::move(item));
    }
    LEAT_CO_DO(co_await rt::yield());
  }
  if (history.empty() || !is_current(bucket)) co_return Status{};
  const record::ObjectKey object{.bucket = bucket.id, .key = history.front().name};
  co_return co_await sweep_history(object, rules, std::move(history), swept);
}

rt::Task<void> Sweeper::sweep_history(const record::ObjectKey& object, const Rules& rules,
                                      std::vector<store::VersionItem> versions, Swept& swept) {
  if (versions.size() == 1) {
    const record::Version& only = *versions.front().version;
    if (!only.is_marker || !lifecycle::removes_lonely_marker(rules, object.key)) {
      co_return Status{};
    }
    co_return co_await remove_version(object, only, swept);
  }
  // From the oldest on, so that none is shown again because a younger one went.
  for (std::size_t i = versions.size() - 1; i > 0; --i) {
    if (gate_.is_closing()) co_return Status{};
    const record::Version& version = *versions[i].version;
    const auto tags = tags_of(version.attributes);
    const lifecycle::PastVersion past{.object = {.key = object.key,
                                                 .size_bytes = version.size_bytes,
                                                 .modified_ms = version.modified_ms,
                                                 .tags = tags},
                                      .replaced_ms = versions[i].replaced_ms,
                                      .newer = i - 1};
    const auto due = lifecycle::expiry_of(rules, past, day_ms());
    if (!due || due->at_ms > store_.now_ms()) continue;
    LEAT_CO_DO(co_await remove_version(object, version, swept));
  }
  co_return Status{};
}

rt::Task<void> Sweeper::remove_version(const record::ObjectKey& object,
                                       const record::Version& version, Swept& swept) {
  tools_.logger.debug("a version expires", {{"key", object.key}});
  auto removing = store_.remove_version(object, store::name_of(version), /*must_be_past=*/true);
  const auto removed = co_await std::move(removing);
  if (!removed && !is_overtaken(removed.error())) co_return fail(removed.error());
  if (removed) {
    ++swept.versions;
    versions_.add(1);
  }
  co_return co_await looking_.spend(kRemovalLooks);
}

}  // namespace leat::expiry
