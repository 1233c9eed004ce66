// Put: an object on its way in, first in memory, then in files if it grows.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "store/shard_store.h"
#include "store/shards.h"

namespace leat::store {
namespace {

// Two contents with the same blocks have the same etag; no cryptography is promised.
std::string content_etag(std::uint32_t sums_crc, std::uint64_t size_bytes) {
  return fmt::format("{:08x}{:016x}", sums_crc, size_bytes);
}

}  // namespace

bool was_not_written(const Error& error) {
  switch (error.code()) {
    // Refused before anything was written, or written and cut off again.
    case Errc::precondition_failed:
    case Errc::bad_request:
    case Errc::not_found:
    case Errc::no_space:
    case Errc::busy: return true;
    // Recovery may yet find the change; if it does not, its files are orphans of the next start.
    default: return false;
  }
}

Put::Put(ShardStore& store, Target target, rt::Gate::Pass inside)
    : store_(store),
      target_(std::move(target)),
      inside_(std::make_shared<const rt::Gate::Pass>(std::move(inside))) {
  if (target_.is_large) start_files();
}

Put::~Put() = default;

void Put::start_files() {
  files_ = std::make_unique<volume::FileWriter>(volume(), store_.kit(), target_.object, inside_);
}

rt::Task<MutableBytes> Put::next_buffer() {
  LEAT_CO_DO(target_.door->check_patience());
  LEAT_CO_TRY(handed_out_, co_await next_room());
  co_return handed_out_;
}

rt::Task<MutableBytes> Put::next_room() {
  const std::uint64_t small_max = volume().options().small_max_bytes;
  if (!files_ && size_bytes_ >= small_max) {
    LEAT_CO_DO(co_await spill());
  }
  if (carried_ > 0) co_return room_.subspan(carried_);
  if (files_) co_return co_await files_->next_buffer();
  LEAT_CO_TRY(auto buffer, co_await store_.kit().buffers.acquire());
  buffers_.push_back(std::move(buffer));
  filled_.push_back(0);
  const std::uint64_t room = small_max - size_bytes_;
  const MutableBytes bytes = buffers_.back().bytes();
  co_return bytes.first(std::min<std::uint64_t>(bytes.size(), room));
}

void Put::commit(std::size_t size) {
  size_bytes_ += size;
  // A part may begin anywhere in an archive: the whole is looked at when it is there.
  if (target_.upload.value() == 0) scanner_.feed(Bytes(handed_out_).first(size));
  if (files_) {
    files_->commit(std::exchange(carried_, 0) + size);
  } else {
    filled_.back() = size;
  }
}

// The object is larger than what lies in segments: what has come so far goes to files. Their
// buffers are filled whole, and the last one is left to the caller to fill: only the end of an
// object may break a block.
rt::Task<void> Put::spill() {
  const record::SummedData data = small_data();
  start_files();
  for (const Bytes piece : data.pieces) {
    for (Bytes rest = piece; !rest.empty();) {
      if (carried_ == 0) {
        LEAT_CO_TRY(room_, co_await files_->next_buffer());
      }
      const Bytes step = rest.first(std::min(rest.size(), room_.size() - carried_));
      std::ranges::copy(step, room_.begin() + static_cast<std::ptrdiff_t>(carried_));
      carried_ += step.size();
      rest = rest.subspan(step.size());
      if (carried_ == room_.size()) files_->commit(std::exchange(carried_, 0));
    }
  }
  buffers_.clear();
  filled_.clear();
  co_return Status{};
}

record::SummedData Put::small_data() const {
  std::vector<Bytes> pieces;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    pieces.push_back(Bytes(buffers_[i].bytes()).first(filled_[i]));
  return record::sum_blocks(std::move(pieces));
}

rt::Task<record::Version> Put::finish(PutDetails details) {
  volume::NewVersion fresh{.object = target_.object};
  std::uint32_t sums_crc = 0;
  const shard::Summary seen = scanner_.finish();
  if (details.judge) LEAT_CO_DO(details.judge(seen));
  note_shard(details.attributes, seen);
  if (files_) {
    if (carried_ > 0) files_->commit(std::exchange(carried_, 0));
    // A small archive is read whole and looked through in less time than its index would take.
    if (seen.is_shard) {
      const std::string index = scanner_.take_index();
      LEAT_CO_DO(co_await files_->append_appendix(as_bytes(index)));
    }
    LEAT_CO_TRY(fresh.version.place, co_await files_->finish());
    sums_crc = files_->sums_crc();
  } else {
    fresh.data = small_data();
    sums_crc = fresh.data.sums_crc();
  }
  fresh.version.size_bytes = size_bytes_;
  fresh.version.modified_ms = store_.now_ms();
  fresh.version.etag =
      details.etag.empty() ? content_etag(sums_crc, size_bytes_) : std::move(details.etag);
  fresh.version.attributes = std::move(details.attributes);
  if (target_.upload.value() != 0) co_return co_await finish_part(std::move(fresh.version));

  auto put = store_.change<record::Version>(
      target_.object, target_.door, [&fresh, &details](volume::Volume& volume) {
        return volume.put(fresh, std::move(details.precondition));
      });
  auto version = co_await std::move(put);
  if (!version) give_up(version.error());
  co_return version;
}

void Put::give_up(const Error& error) {
  if (files_ && was_not_written(error)) files_->abandon();
}

rt::Task<record::Version> Put::finish_part(record::Version version) {
  record::Part part{.upload = target_.upload, .number = target_.part, .content = version};
  auto put = store_.at_home<void>(target_.door, [this, &part](volume::Volume& volume) {
    return volume.put_part(target_.object, std::move(part));
  });
  const Status done = co_await std::move(put);
  if (!done) give_up(done.error());
  if (!done) co_return fail(done.error());
  co_return version;
}

}  // namespace leat::store
