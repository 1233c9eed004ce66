#include "expiry/sweeper.h"

#include <algorithm>

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
    if (swept.objects + swept.uploads > 0) {
      tools_.logger.info(
          "lifecycle rules removed what was due",
          {{"bucket", bucket.name}, {"objects", swept.objects}, {"uploads", swept.uploads}});
    }
    if (!done) {
      tools_.logger.error("lifecycle rules could not be carried out",
                          {{"bucket", bucket.name}, {"error", done.error()}});
    }
    all.objects += swept.objects;
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
  if (std::ranges::any_of(*rules, &lifecycle::Rule::needs_versions)) {
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
  const Status removed = co_await std::move(removing);
  if (!removed && !is_overtaken(removed.error())) co_return fail(removed.error());
  if (removed) {
    ++swept.objects;
    objects_.add(1);
  }
  co_return co_await looking_.spend(kRemovalLooks);
}

rt::Task<void> Sweeper::sweep_uploads(const record::Bucket& bucket, const Rules& rules,
                                      Swept& swept) {
  LEAT_CO_TRY(const auto uploads, co_await store_.list_uploads(bucket.id));
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

// The seam for versions: here NoncurrentVersionExpiration and ExpiredObjectDeleteMarker are to be
// carried out, once the store lists versions. PUT of such rules is refused until then
// (frontend/s3/configuration.cc), so a bucket that has them was written by a later Leat.
rt::Task<void> Sweeper::sweep_versions(const record::Bucket& /*bucket*/, const Rules& /*rules*/,
                                       Swept& /*swept*/) {
  co_return fail(Errc::not_implemented, "rules about versions");
}

}  // namespace leat::expiry
