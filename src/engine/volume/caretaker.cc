#include "volume/caretaker.h"

#include <algorithm>
#include <limits>

namespace leat::volume {
namespace {

// The longest nap: how soon stop() is noticed.
constexpr Duration kNap = std::chrono::milliseconds(200);
constexpr std::size_t kScrubStep = 256;
// A node that is started every day scrubs as well: the first one begins after this part of the
// pause, and soon.
constexpr int kFirstScrubPart = 10;
constexpr Duration kFirstScrubMax = std::chrono::hours(1);
// What looking at a small object costs the disk beside its bytes.
constexpr std::uint64_t kStepBytes = 4096;

metrics::Labels labels_of(const Volume& volume) {
  return {{"disk", volume.folders().root()}};
}

std::int64_t now_ms(const io::Clock& clock) {
  const auto since = clock.wall_now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

}  // namespace

Caretaker::Caretaker(Volume& volume, ShardKit kit, CaretakerTools tools, CaretakerOptions options)
    : volume_(volume),
      reader_(volume, kit),
      tools_(tools),
      options_(options),
      progress_(volume.scrubbed()),
      scrubbing_(tools.clock, options.scrub_rate_bytes),
      purged_(tools.metrics.counter("leat_disk_purged_versions_total",
                                    "Versions that left the trash for good.", labels_of(volume))),
      compacted_(tools.metrics.counter("leat_disk_compacted_segments_total",
                                       "Segments that were rewritten.", labels_of(volume))),
      scrubbed_bytes_(tools.metrics.counter("leat_disk_scrubbed_bytes_total",
                                            "Bytes read and verified by scrubs.",
                                            labels_of(volume))),
      damage_found_(tools.metrics.counter("leat_disk_damaged_objects_total",
                                          "Objects that a scrub found damaged.",
                                          labels_of(volume))),
      watch_(volume, tools.metrics) {}

void Caretaker::start() {
  for (auto loop : {&Caretaker::tidy_loop, &Caretaker::scrub_loop, &Caretaker::watch_loop}) {
    auto pass = gate_.enter();
    if (!pass) return;
    tools_.shard.spawn((this->*loop)(std::move(*pass)), [](const Status&) {});
  }
}

rt::Task<void> Caretaker::stop() {
  return gate_.close();
}

rt::Task<bool> Caretaker::rest(Duration duration) {
  const Instant end = tools_.clock.now() + duration;
  while (!gate_.is_closing() && tools_.clock.now() < end) {
    const Instant wake = std::min(end, tools_.clock.now() + kNap);
    LEAT_CO_DO(co_await tools_.clock.sleep_until(wake));
  }
  co_return !gate_.is_closing();
}

void Caretaker::report(std::string_view what, const Error& error) {
  tools_.logger.error(what, {{"disk", volume_.folders().root()}, {"error", error}});
}

rt::Task<void> Caretaker::tidy_loop(rt::Gate::Pass /*pass*/) {
  const auto orphans = co_await volume_.collect_orphans();
  if (!orphans) report("orphans could not be collected", orphans.error());
  if (orphans && *orphans > 0) {
    tools_.logger.info("removed files that no object names",
                       {{"disk", volume_.folders().root()}, {"files", *orphans}});
  }
  for (;;) {
    LEAT_CO_TRY(const bool go_on, co_await rest(options_.period));
    if (!go_on) co_return Status{};
    if (volume_.failure()) continue;
    if (const Status done = co_await tidy(); !done) report("tidying failed", done.error());
  }
}

rt::Task<void> Caretaker::tidy() {
  // A full disk gets no new objects, so nobody else would notice that it has room again.
  LEAT_CO_DO(co_await volume_.look_at_space());
  // A full disk gives up the undo window before it refuses new data.
  const std::int64_t until =
      volume_.space().is_full ? std::numeric_limits<std::int64_t>::max() : now_ms(tools_.clock);
  const auto purged = co_await volume_.reclaim(until);
  // Compaction gives space back all the same.
  if (!purged) report("the trash could not be emptied", purged.error());
  purged_.add(purged.value_or(0));
  while (!gate_.is_closing()) {
    auto compacting = volume_.compact([this] { return gate_.is_closing(); });
    LEAT_CO_TRY(const bool compacted, co_await std::move(compacting));
    if (!compacted) break;
    compacted_.add(1);
  }
  co_return Status{};
}

rt::Task<void> Caretaker::scrub_loop(rt::Gate::Pass /*pass*/) {
  if (options_.scrub_rate_bytes == 0) co_return Status{};
  Duration pause = std::min<Duration>(options_.scrub_pause / kFirstScrubPart, kFirstScrubMax);
  for (;;) {
    LEAT_CO_TRY(const bool go_on, co_await rest(pause));
    if (!go_on) co_return Status{};
    pause = options_.scrub_pause;
    const auto done = co_await scrub();
    if (!done) {
      report("a scrub ended early", done.error());
      continue;
    }
    tools_.logger.info("scrubbed", {{"disk", volume_.folders().root()},
                                    {"objects", done->objects},
                                    {"bytes", done->bytes},
                                    {"damaged", done->damaged}});
  }
}

rt::Task<void> Caretaker::watch_loop(rt::Gate::Pass /*pass*/) {
  for (;;) {
    watch_.look();
    LEAT_CO_TRY(const bool go_on, co_await rest(options_.watch_period));
    if (!go_on) break;
  }
  watch_.leave();
  co_return Status{};
}

rt::Task<ScrubProgress> Caretaker::scrub() {
  struct Item {
    record::ObjectKey object;
    record::Version version;
  };
  struct Step {
    std::vector<Item> items{};
    std::string last{};
  };
  progress_ = ScrubProgress{.is_running = true};
  volume_.quarantine().begin_round();
  // What was open since the last one would be read even if nobody could open it any more.
  reader_.let_go();
  const index::Index& index = volume_.index();
  std::string after;
  do {
    auto looked = reader_.kit().pool.run<Step>([&index, &after]() -> Result<Step> {
      Step step;
      const auto note = [&step](const record::ObjectKey& object,
                                const record::Version& version) -> Status {
        step.items.push_back({object, version});
        return {};
      };
      LEAT_TRY(step.last, index.visit_versions(after, kScrubStep, note));
      return step;
    });
    auto step = co_await std::move(looked);
    if (!step) {
      progress_.is_running = false;
      co_return fail(step.error());
    }
    for (const Item& item : step->items) {
      LEAT_CO_DO(co_await scrub_step(item.object, item.version));
      if (gate_.is_closing()) break;
    }
    after = std::move(step->last);
  } while (!after.empty() && !gate_.is_closing());
  progress_.is_running = false;
  if (after.empty()) volume_.quarantine().end_round();
  co_return progress_;
}

rt::Task<void> Caretaker::scrub_step(const record::ObjectKey& object,
                                     const record::Version& version) {
  Status verified = co_await verify(version);
  if (!verified) {
    const Error error = verified.error().clone();
    verified = co_await reader_.explain(object, version, error);
  }
  ++progress_.objects;
  progress_.bytes += version.size_bytes;
  scrubbed_bytes_.add(version.size_bytes);
  // Not found: it was replaced meanwhile, and there is nothing to read any more.
  if (verified || verified.error().code() == Errc::not_found) co_return Status{};
  const Errc code = verified.error().code();
  if (code != Errc::corrupt) volume_.quarantine().keep(object);
  if (code == Errc::corrupt) {
    damage_found_.add(1);
    ++progress_.damaged;
  } else if (code != Errc::io) {
    report("a scrub could not read an object", verified.error());
    co_return Status{};
  }
  volume_.note_unread({object, version.id, verified.error().clone()});
  co_return Status{};
}

rt::Task<void> Caretaker::verify(const record::Version& version) {
  const ByteRange all{.offset = 0, .length = version.size_bytes + appendix_bytes(version)};
  if (is_small(version)) {
    LEAT_CO_DO(co_await scrubbing_.spend(version.size_bytes + kStepBytes));
    LEAT_CO_DO(co_await reader_.read_small(version, all));
    co_return Status{};
  }
  LEAT_CO_TRY(const auto source, co_await reader_.open_files(version, all));
  while (!gate_.is_closing()) {
    LEAT_CO_TRY(const Bytes piece, co_await source->next());
    if (piece.empty()) break;
    LEAT_CO_DO(co_await scrubbing_.spend(piece.size()));
  }
  co_return Status{};
}

}  // namespace leat::volume
