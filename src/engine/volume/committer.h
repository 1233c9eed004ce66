// Committer: the one writer of a disk's segments. Many changes, one write, one sync.
//
// While one batch is being written and synced the next one gathers, so that sixteen writers share a
// sync and a single one waits for nobody. A change is applied to the index after its batch is as
// durable as it has to be; then its task goes on.
//
// Invariants:
//  1. A batch is written only after the one before it, and a segment is closed only when all of it
//     is on the disk.
//  2. The index is flushed only when the segments it reflects are on the disk.
//  3. The index is flushed only when there is room for it: a flush that failed cannot be tried
//  again
//     (kv/failure.h), and a full disk is to go on after deletes.
//  4. After a failed sync nothing is written any more (docs/adr/0007-durable-by-default.md).
//
// Shard: the home of its disk. Lifetime: what Tools refers to outlives it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "index/index.h"
#include "io/clock.h"
#include "io/file_io.h"
#include "rt/blocking_pool.h"
#include "rt/gate.h"
#include "rt/shard.h"
#include "segment/segment_folder.h"
#include "volume/options.h"

namespace leat::volume {

// One change on its way. Lifetime: until commit() returns, and so the memory of its data.
struct Entry {
  record::Change change{};
  record::SummedData data{};
  index::Before before{};
  record::Durability durability = record::Durability::sync;
  bool is_moved = false;
  // Given by commit(); a moved change brings its own.
  record::Sequence sequence{};
  // Further changes, without data, that are made with this one or not at all: right behind it, in
  // the same batch. Requires: their `before` is what the changes before them leave.
  std::vector<Entry> with{};
};

struct CommitterTools {
  rt::Shard& shard;
  io::FileIo& file_io;
  rt::BlockingPool& pool;
  io::Clock& clock;
  segment::SegmentFolder& segments;
  index::Index& index;
  kv::Kv& kv;
  // What room the disk has. Blocks.
  std::function<Result<io::DiskSpace>()> space;
  // Called once, when nothing is written any more.
  std::function<void(const Error&)> on_failure;
};

// Where the segments end.
struct LogEnd {
  record::SegmentId segment{};
  std::uint64_t offset = 0;
  record::Sequence last{};
};

class Committer {
 public:
  Committer(CommitterTools tools, const VolumeOptions& options, std::unique_ptr<io::File> file,
            LogEnd end);

  // Gives the change its sequence, and its data its place.
  // Errors: no_space, io, unavailable (the disk failed before), busy (too many wait).
  rt::Task<void> commit(Entry& entry);

  // Everything committed so far is on the disk when it returns, whatever its durability.
  rt::Task<void> sync();

  // The same, and in the index's own files: recovery need not read it again.
  rt::Task<void> checkpoint();

  // Ends what is running. No more commits after it.
  rt::Task<void> close();

  // Nothing is written any more, because of what somebody else saw of the disk. Gives failure().
  std::unexpected<Error> fail_disk(const Error& error, std::string_view what);

  // Why nothing is written any more; nothing while all is well.
  const std::optional<Error>& failure() const { return failure_; }

  record::SegmentId active_segment() const { return segment_; }
  // Everything before it is in the index's own files.
  record::SegmentId checkpoint_segment() const { return checkpoint_segment_; }
  std::size_t pending() const { return pending_.size(); }
  std::uint64_t syncs() const { return syncs_; }

 private:
  struct Waiting {
    Entry* entry;
    rt::Resume<void> resume;
  };
  using Group = std::deque<Waiting>;
  struct SinceCheckpoint {
    std::uint64_t changes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t index_bytes = 0;  // that the index has learnt
  };

  void start();
  rt::Task<void> run(rt::Gate::Pass pass);
  Group take_group();
  void number(Entry& entry);
  rt::Task<void> write_group(Group& group);
  Status apply_group(Group& group, std::uint64_t end_offset);
  // A write did not come to its end. Errors: unavailable, when that is the disk's.
  rt::Task<void> give_up_write(const Error& error);
  // What such a write left behind the end must not stay there: a closed segment ends with its last
  // batch. Errors: busy, when it has to be cut later; unavailable.
  rt::Task<void> cut_file();
  rt::Task<void> roll_over();
  // One at a time: the kernel tells of a failed sync once, so that another one beside it or behind
  // it would succeed without the bytes.
  rt::Task<void> sync_file();
  rt::Task<void> sync_now();
  rt::Task<void> sync_after(Instant when, rt::Gate::Pass pass);
  rt::Task<void> checkpoint_in_background(rt::Gate::Pass pass);
  rt::Task<void> flush_index();
  rt::Task<void> flush_segments_and_index();
  // Errors: no_space.
  rt::Task<void> check_room_to_flush();
  // Appends to the segment, and syncs it in one go if asked to. Requires: nobody syncs then.
  rt::Task<void> write_batch(Bytes bytes, bool and_sync);
  void end_sync();
  // Says up to where everything is on the disk, for whoever reads the segment after a crash.
  rt::Task<void> write_marker();
  Status check_alive() const;

  CommitterTools tools_;
  const VolumeOptions& options_;
  std::shared_ptr<io::File> file_;
  record::SegmentId segment_;
  std::uint64_t offset_;
  std::uint64_t durable_offset_;
  std::uint64_t marked_offset_ = 0;
  bool has_tail_ = false;  // there may be bytes behind offset_
  record::Sequence last_;
  record::SegmentId checkpoint_segment_;
  SinceCheckpoint since_checkpoint_;
  bool checkpointing_ = false;
  bool lacks_room_ = false;  // the last flush of the index was not tried for want of it
  std::vector<rt::Resume<void>> awaiting_checkpoint_;
  bool running_ = false;
  Instant sync_due_ = Instant::max();  // when a sync is to come by itself
  bool syncing_ = false;
  std::vector<rt::Resume<void>> awaiting_sync_;
  std::uint64_t syncs_ = 0;
  Group pending_;
  std::optional<Error> failure_;
  rt::Gate gate_;
};

}  // namespace leat::volume
