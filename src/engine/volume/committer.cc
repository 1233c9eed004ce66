#include "volume/committer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace leat::volume {
namespace {

// How long a sync that is not due yet sleeps at a time, so that closing need not wait for it.
constexpr Duration kNap = std::chrono::milliseconds(20);

// So often a sync that could not be tried is tried again, a nap apart. Then the disk counts as
// failed: what was written and is not in the index cannot be taken back.
constexpr int kSyncTries = 500;

// The kv flushes its changes by itself when they take half of its memory (kv/options.cc), 128 MiB.
// Well before that the index is flushed here, and if that does not keep up every batch is synced.
constexpr std::uint64_t kIndexFlushBytes = 32 * kMiB;
constexpr std::uint64_t kIndexSyncBytes = 64 * kMiB;
// With so much learnt and no room to flush it, changes are refused.
constexpr std::uint64_t kIndexFullBytes = 96 * kMiB;
// What a flush takes beside what was learnt: names of files, and the merges that follow it, which
// may take this share of what is kept free.
constexpr std::uint64_t kFlushSpareBytes = kMiB;
constexpr std::uint64_t kMergeShare = 4;
// What a change takes there beside its bytes, at most: nodes and the keys of its entries.
constexpr std::uint64_t kIndexEntryBytes = 512;

std::int64_t to_ms(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

Committer::Committer(CommitterTools tools, const VolumeOptions& options,
                     std::unique_ptr<io::File> file, LogEnd end)
    : tools_(std::move(tools)),
      options_(options),
      file_(std::move(file)),
      segment_(end.segment),
      offset_(end.offset),
      durable_offset_(end.offset),
      marked_offset_(end.offset),
      last_(end.last),
      checkpoint_segment_(end.segment) {}

Status Committer::check_alive() const {
  if (failure_) return fail(*failure_);
  return {};
}

std::unexpected<Error> Committer::fail_disk(const Error& error, std::string_view what) {
  if (!failure_) {
    failure_ =
        Error(Errc::unavailable, fmt::format("the disk has failed: {}: {}", what, error.detail()));
    tools_.on_failure(*failure_);
  }
  return fail(*failure_);
}

rt::Task<void> Committer::commit(Entry& entry) {
  LEAT_CO_DO(check_alive());
  if (gate_.is_closing()) co_return fail(Errc::unavailable, "shutting down");
  if (pending_.size() >= options_.pending_max) {
    co_return fail(Errc::busy, "too many changes wait for the disk");
  }
  auto written = rt::suspend<void>([this, &entry](rt::Resume<void> resume) {
    pending_.push_back({.entry = &entry, .resume = std::move(resume)});
    start();
  });
  co_return co_await std::move(written);
}

void Committer::start() {
  if (running_) return;
  auto pass = gate_.enter();
  LEAT_CHECK(pass.has_value());
  running_ = true;
  tools_.shard.spawn(run(std::move(*pass)), [](const Status&) {});
}

rt::Task<void> Committer::run(rt::Gate::Pass /*pass*/) {
  do {
    while (!pending_.empty()) {
      Group group = take_group();
      const Status written = co_await write_group(group);
      for (Waiting& waiting : group)
        waiting.resume(written ? Status{} : Status(fail(written.error())));
      // Let those who were just answered put their next change into the next batch.
      LEAT_CO_DO(co_await rt::yield());
    }
    LEAT_CO_DO(co_await write_marker());
  } while (!pending_.empty());
  running_ = false;
  co_return Status{};
}

Committer::Group Committer::take_group() {
  Group group;
  std::uint64_t bytes = 0;
  while (!pending_.empty()) {
    bytes += pending_.front().entry->data.size_bytes() + 512;
    if (!group.empty() && bytes > options_.batch_max_bytes) break;
    group.push_back(std::move(pending_.front()));
    pending_.pop_front();
  }
  return group;
}

void Committer::number(Entry& entry) {
  last_ = record::Sequence(last_.value() + 1);
  entry.sequence = last_;
  if (record::Version* version = record::version_in(entry.change)) {
    version->sequence = last_;
    if (version->id.value() == 0) version->id = record::VersionId(last_.value());
  }
}

rt::Task<void> Committer::write_group(Group& group) {
  LEAT_CO_DO(check_alive());
  if (has_tail_) {
    LEAT_CO_DO(co_await cut_file());
  }
  if (lacks_room_ && tools_.kv.memory_bytes() >= kIndexFullBytes) {
    LEAT_CO_DO(co_await checkpoint());
  }
  if (offset_ >= options_.segment_max_bytes) {
    LEAT_CO_DO(co_await roll_over());
  }
  const record::Sequence before = last_;
  record::BatchBuilder builder(tools_.segments.site(segment_), offset_, durable_offset_);
  bool must_sync = false;
  Instant due = Instant::max();  // when this batch has to be on the disk, if not at once
  for (Waiting& waiting : group) {
    Entry& entry = *waiting.entry;
    const auto add = [this, &builder](Entry& one) {
      if (!one.is_moved) number(one);
      builder.add(one.sequence, one.change, one.data, one.is_moved);
    };
    add(entry);
    std::ranges::for_each(entry.with, add);
    switch (entry.durability) {
      case record::Durability::sync: must_sync = true; break;
      case record::Durability::group:
        due = std::min(due, tools_.clock.now() + options_.group_window);
        break;
      case record::Durability::relaxed:
        due = std::min(due, tools_.clock.now() + options_.relaxed_window);
        break;
    }
  }
  const Bytes bytes = builder.finish();
  const Status written = co_await write_batch(bytes, must_sync && !syncing_);
  if (!written) {
    last_ = before;
    co_return fail(written.error());
  }
  // While the index is being flushed, or might begin to by itself, it must not learn of anything
  // that is not on the disk.
  const bool needs_sync =
      must_sync || checkpointing_ || since_checkpoint_.index_bytes >= kIndexSyncBytes;
  if (needs_sync && durable_offset_ < offset_) {
    LEAT_CO_DO(co_await sync_file());
  } else if (!needs_sync && due < sync_due_) {
    if (auto pass = gate_.enter()) {
      sync_due_ = due;
      tools_.shard.spawn(sync_after(due, std::move(*pass)), [](const Status&) {});
    }
  }
  co_return apply_group(group, offset_);
}

rt::Task<void> Committer::write_batch(Bytes bytes, bool and_sync) {
  const std::shared_ptr<io::File> file = file_;
  Status written;
  Status synced;
  if (and_sync) {
    syncing_ = true;
    ++syncs_;
    written = co_await tools_.file_io.write_and_sync(*file, offset_, bytes, synced);
    end_sync();
  } else {
    written = co_await tools_.file_io.write_at(*file, offset_, bytes);
  }
  // The kernel tells of it once, so it counts whatever became of the write. One that could not be
  // tried is made up for by whoever needs it.
  const bool is_untried = !synced && synced.error().code() == Errc::busy;
  if (!synced && !is_untried) co_return fail_disk(synced.error(), "a sync has failed");
  if (!written) {
    LEAT_CO_DO(co_await give_up_write(written.error()));
    co_return fail(written.error());
  }
  offset_ += bytes.size();
  if (and_sync && !is_untried) durable_offset_ = offset_;
  co_return Status{};
}

rt::Task<void> Committer::give_up_write(const Error& error) {
  if (error.code() != Errc::no_space && error.code() != Errc::busy) {
    co_return fail_disk(error, "a segment cannot be written");
  }
  has_tail_ = true;
  co_return co_await cut_file();
}

rt::Task<void> Committer::cut_file() {
  const std::shared_ptr<io::File> file = file_;
  const std::uint64_t end = offset_;
  auto cut = tools_.pool.run<void>([file, end] { return file->truncate(end); });
  const Status done = co_await std::move(cut);
  // Not now, then: it is cut before anything else is written.
  if (!done && done.error().code() == Errc::busy) co_return fail(done.error());
  if (!done) co_return fail_disk(done.error(), "a segment cannot be cut");
  has_tail_ = false;
  co_return Status{};
}

Status Committer::apply_group(Group& group, std::uint64_t end_offset) {
  kv::Batch batch;
  for (Waiting& waiting : group) {
    const Entry& entry = *waiting.entry;
    if (entry.is_moved) {
      tools_.index.apply_moved(entry.change, entry.before, batch);
    } else {
      tools_.index.apply(entry.sequence, entry.change, entry.before, batch);
    }
    for (const Entry& one : entry.with)
      tools_.index.apply(one.sequence, one.change, one.before, batch);
    since_checkpoint_.bytes += entry.data.size_bytes();
  }
  tools_.index.finish({.segment = segment_, .offset = end_offset, .last = last_}, batch);
  if (Status stored = tools_.kv.write(batch); !stored) {
    return fail_disk(stored.error(), "the index cannot be written");
  }
  tools_.index.written();
  since_checkpoint_.changes += group.size();
  since_checkpoint_.index_bytes += batch.size_bytes() + group.size() * kIndexEntryBytes;
  const bool is_due = since_checkpoint_.changes >= options_.replay_max_changes ||
                      since_checkpoint_.index_bytes >= kIndexFlushBytes ||
                      since_checkpoint_.bytes >= options_.replay_max_bytes;
  if (is_due && !checkpointing_ && !options_.quiet) {
    if (auto pass = gate_.enter()) {
      tools_.shard.spawn(checkpoint_in_background(std::move(*pass)), [](const Status&) {});
    }
  }
  return {};
}

rt::Task<void> Committer::roll_over() {
  LEAT_CO_DO(co_await sync_file());
  const record::SegmentId next(segment_.value() + 1);
  const std::int64_t now_ms = to_ms(tools_.clock.wall_now());
  segment::SegmentFolder& segments = tools_.segments;
  using Opened = std::unique_ptr<io::File>;
  auto created =
      tools_.pool.run<Opened>([&segments, next, now_ms] { return segments.create(next, now_ms); });
  auto file = co_await std::move(created);
  if (!file) {
    if (file.error().code() == Errc::no_space || file.error().code() == Errc::busy) {
      co_return fail(file.error());
    }
    co_return fail_disk(file.error(), "a segment cannot be made");
  }
  file_ = std::move(*file);
  segment_ = next;
  offset_ = record::kSegmentHeaderBytes;
  durable_offset_ = offset_;
  marked_offset_ = offset_;
  co_return Status{};
}

rt::Task<void> Committer::sync_file() {
  const record::SegmentId segment = segment_;
  const std::uint64_t end = offset_;
  bool waited = false;
  while (syncing_) {
    auto ended = rt::suspend<void>(
        [this](rt::Resume<void> resume) { awaiting_sync_.push_back(std::move(resume)); });
    LEAT_CO_DO(co_await std::move(ended));
    waited = true;
  }
  LEAT_CO_DO(check_alive());
  // The one that was waited for, or one after it, may have brought these bytes to the disk.
  if (waited && (segment != segment_ || durable_offset_ >= end)) co_return Status{};
  syncing_ = true;
  Status done = co_await sync_now();
  end_sync();
  co_return done;
}

// They go on later, when all is noted.
void Committer::end_sync() {
  syncing_ = false;
  for (rt::Resume<void>& resume : std::exchange(awaiting_sync_, {}))
    resume(Status{});
}

rt::Task<void> Committer::sync_now() {
  const std::shared_ptr<io::File> file = file_;
  const record::SegmentId segment = segment_;
  ++syncs_;
  for (int tries = 1;; ++tries) {
    const std::uint64_t end = offset_;
    const Status synced = co_await tools_.file_io.sync_data(*file);
    if (synced) {
      if (segment == segment_) durable_offset_ = std::max(durable_offset_, end);
      co_return Status{};
    }
    if (synced.error().code() != Errc::busy || tries == kSyncTries) {
      co_return fail_disk(synced.error(), "a sync has failed");
    }
    const Instant wake = tools_.clock.now() + kNap;
    LEAT_CO_DO(co_await tools_.clock.sleep_until(wake));
    LEAT_CO_DO(check_alive());
  }
}

rt::Task<void> Committer::sync_after(Instant when, rt::Gate::Pass /*pass*/) {
  while (tools_.clock.now() < when && !gate_.is_closing()) {
    const Instant wake = std::min(when, tools_.clock.now() + kNap);
    LEAT_CO_DO(co_await tools_.clock.sleep_until(wake));
  }
  // Another one was due earlier and took this with it.
  if (sync_due_ != when) co_return Status{};
  sync_due_ = Instant::max();
  co_return co_await sync();
}

rt::Task<void> Committer::sync() {
  LEAT_CO_DO(co_await sync_file());
  // Whoever runs writes a marker at the end; else somebody has to begin.
  if (!gate_.is_closing()) start();
  co_return Status{};
}

rt::Task<void> Committer::checkpoint() {
  while (checkpointing_) {
    auto ended = rt::suspend<void>(
        [this](rt::Resume<void> resume) { awaiting_checkpoint_.push_back(std::move(resume)); });
    LEAT_CO_DO(co_await std::move(ended));
  }
  checkpointing_ = true;
  Status done = co_await flush_index();
  checkpointing_ = false;
  for (rt::Resume<void>& resume : std::exchange(awaiting_checkpoint_, {}))
    resume(Status{});
  co_return done;
}

rt::Task<void> Committer::flush_index() {
  const SinceCheckpoint before = std::exchange(since_checkpoint_, {});
  const record::SegmentId segment = segment_;
  const Status done = co_await flush_segments_and_index();
  if (done) {
    checkpoint_segment_ = std::max(checkpoint_segment_, segment);
    co_return Status{};
  }
  // What was not flushed still counts: the next change tries again.
  since_checkpoint_.changes += before.changes;
  since_checkpoint_.bytes += before.bytes;
  since_checkpoint_.index_bytes += before.index_bytes;
  co_return fail(done.error());
}

rt::Task<void> Committer::check_room_to_flush() {
  auto asked = tools_.pool.run<io::DiskSpace>(tools_.space);
  const auto space = co_await std::move(asked);
  const std::uint64_t merges =
      std::min(tools_.kv.file_bytes(), options_.reserve_bytes / kMergeShare);
  const std::uint64_t needed = tools_.kv.memory_bytes() + merges + kFlushSpareBytes;
  // Who does not know tries.
  lacks_room_ = space && space->available_bytes < needed;
  if (!lacks_room_) co_return Status{};
  co_return fail(Errc::no_space, fmt::format("the index needs {} bytes, the disk has {}", needed,
                                             space->available_bytes));
}

rt::Task<void> Committer::flush_segments_and_index() {
  LEAT_CO_DO(co_await check_room_to_flush());
  LEAT_CO_DO(co_await sync());
  kv::Kv& kv = tools_.kv;
  auto flushed = tools_.pool.run<void>([&kv] { return kv.flush(); });
  const Status done = co_await std::move(flushed);
  if (!done && done.error().code() == Errc::busy) co_return fail(done.error());
  if (!done) co_return fail_disk(done.error(), "the index cannot be flushed");
  co_return Status{};
}

rt::Task<void> Committer::checkpoint_in_background(rt::Gate::Pass /*pass*/) {
  co_return co_await checkpoint();
}

rt::Task<void> Committer::write_marker() {
  // Unsynced bytes behind the mark need no mark of their own: the next sync brings one.
  if (failure_ || has_tail_ || durable_offset_ != offset_ || marked_offset_ == offset_)
    co_return Status{};
  record::BatchBuilder builder(tools_.segments.site(segment_), offset_, durable_offset_);
  const Bytes bytes = builder.finish();
  const std::shared_ptr<io::File> file = file_;
  const std::uint64_t at = offset_;
  const Status written = co_await tools_.file_io.write_at(*file, at, bytes);
  if (written) {
    offset_ = at + bytes.size();
    marked_offset_ = offset_;
    co_return Status{};
  }
  // A failure is kept in failure_: whoever comes next is told.
  static_cast<void>(co_await give_up_write(written.error()));
  co_return Status{};
}

rt::Task<void> Committer::close() {
  return gate_.close();
}

}  // namespace leat::volume
