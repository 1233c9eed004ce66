#include "shards/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "rt/shard.h"

namespace leat::shards {
namespace {

// The first lot is small, for the first byte; the others for few, large reads.
constexpr std::uint64_t kFirstLotBytes = 256 * kKiB;
constexpr std::uint64_t kLotBytes = 4 * kMiB;
constexpr std::size_t kLotItems = 4096;
// What a part of an outcome takes beside its bytes.
constexpr std::uint64_t kPartBytes = 128;
// Found in memory one after the other, before others have their turn.
constexpr std::size_t kItemsAtOnce = 64;
// One read of neighbours.
constexpr std::uint64_t kRunBytes = 1 * kMiB;
constexpr std::size_t kReadsInFlight = 8;
// Objects that are remembered as they were found.
constexpr std::size_t kResolvedMax = 4096;
// How often an object may be replaced between finding and reading it before we give up.
constexpr int kRaces = 10;

std::uint64_t end_of(const volume::ByteRange& range) {
  return range.offset + range.length;
}

volume::ByteRange cut_to(const volume::ByteRange& all,
                         const std::optional<volume::ByteRange>& wanted) {
  if (!wanted) return all;
  const std::uint64_t begin = std::min(wanted->offset, all.length);
  return {.offset = all.offset + begin, .length = std::min(wanted->length, all.length - begin)};
}

// Places come from snapshots and recipes, which are objects that somebody wrote.
Status check_inside(const volume::ByteRange& range, const record::Version& version) {
  const std::uint64_t size = version.size_bytes;
  if (range.offset <= size && range.length <= size - range.offset) return {};
  return fail(Errc::corrupt, "a snapshot leads outside of its shard");
}

}  // namespace

// Jobs of a lot in the order of the disk, and the workers that go through them.
struct BatchReader::Reading {
  store::ShardStore& store;
  std::shared_ptr<std::byte[]> memory;  // that the jobs write to
  std::vector<Job> jobs{};
  std::size_t at = 0;
  std::size_t workers = 0;
  std::optional<rt::Resume<void>> waiting{};

  // The jobs from `first` on that one read brings.
  std::size_t run_at(std::size_t first) const {
    std::size_t count = 1;
    while (first + count < jobs.size()) {
      const Job& last = jobs[first + count - 1];
      const Job& next = jobs[first + count];
      if (next.object != last.object || next.range.offset > end_of(last.range) + kGapMaxBytes ||
          end_of(next.range) - jobs[first].range.offset > kRunBytes) {
        break;
      }
      ++count;
    }
    return count;
  }
};

Status ObjectName::check_is(const record::Version& version) const {
  const bool is_it =
      (etag.empty() || etag == version.etag) && (!size_bytes || *size_bytes == version.size_bytes);
  if (is_it) return {};
  return fail(Errc::precondition_failed,
              fmt::format("{}/{} is another one than when the dataset was committed", bucket, key));
}

void BatchItem::set_failed(const Error& why) {
  what = What::failed;
  error = why.code();
  name = why.detail();
  places = {};
}

BatchReader::BatchReader(store::ShardStore& store, ShardIndexes& indexes, BatchRequest request,
                         Admit admit)
    : store_(store),
      indexes_(indexes),
      request_(std::move(request)),
      admit_(std::move(admit)),
      resolved_(request_.objects.size()) {}

BatchReader::~BatchReader() = default;

std::uint64_t BatchReader::Outcome::size_bytes() const {
  std::uint64_t all = 0;
  for (const Part& part : parts)
    all += part.size_bytes;
  return all;
}

rt::Task<store::Found> BatchReader::find(const ObjectName& name) {
  const auto missing = [this, &name] {
    const Status refused = admit_(name, nullptr);
    LEAT_CHECK(!refused);
    return fail(refused.error());
  };
  const auto bucket = store_.find_bucket(name.bucket);
  if (!bucket) co_return missing();
  record::ObjectKey object{.bucket = bucket->id, .key = name.key};
  auto found = co_await store_.find(std::move(object));
  if (!found && found.error().code() == Errc::not_found) co_return missing();
  if (!found) co_return fail(found.error());
  LEAT_CO_DO(admit_(name, &found->version));
  LEAT_CO_DO(name.check_is(found->version));
  co_return found;
}

rt::Task<BatchReader::ResolvedPtr> BatchReader::resolve(std::uint32_t object, bool needs_index) {
  ResolvedPtr one = resolved_[object];
  if (!one) {
    auto found = co_await find(request_.objects[object]);
    one = std::make_shared<Resolved>(Resolved{.found = std::move(found)});
    if (++resolved_count_ > kResolvedMax) {
      std::ranges::fill(resolved_, nullptr);
      resolved_count_ = 1;
    }
    resolved_[object] = one;
  }
  if (!one->found) co_return fail(one->found.error());
  if (needs_index && !one->index) {
    LEAT_CO_TRY(one->index, co_await indexes_.find(*one->found));
  }
  co_return one;
}

rt::Task<BatchReader::Wanted> BatchReader::want_places(const BatchItem& item) {
  Wanted wanted;
  for (const PlacedField& one : item.places) {
    LEAT_CO_TRY(auto object, co_await resolve(one.object, /*needs_index=*/false));
    LEAT_CO_DO(check_inside(one.data, object->found->version));
    wanted.objects.push_back(std::move(object));
    wanted.parts.push_back(
        {.field = request_.field_names[one.name], .size_bytes = one.data.length});
    wanted.ranges.push_back(one.data);
  }
  co_return wanted;
}

rt::Task<BatchReader::Wanted> BatchReader::want(const BatchItem& item) {
  if (item.what == BatchItem::What::failed) co_return fail(item.error, item.name);
  if (item.what == BatchItem::What::places) co_return co_await want_places(item);
  Wanted wanted;
  const bool needs_index = item.what != BatchItem::What::object;
  LEAT_CO_TRY(const ResolvedPtr object, co_await resolve(item.object, needs_index));
  if (item.what == BatchItem::What::object) {
    const volume::ByteRange all{.offset = 0, .length = object->found->version.size_bytes};
    wanted.ranges = {cut_to(all, item.range)};
  } else if (item.what == BatchItem::What::member) {
    LEAT_CO_TRY(const auto data, select_member(object->index->view(), item.name));
    wanted.ranges = {cut_to(data, item.range)};
  } else {
    LEAT_CO_TRY(const auto fields,
                select_sample(object->index->view(), item.name, request_.field_lists[item.fields]));
    for (const FieldData& one : fields) {
      wanted.parts.push_back({.field = std::string(one.field)});
      wanted.ranges.push_back(one.data);
    }
  }
  wanted.parts.resize(wanted.ranges.size());
  wanted.objects.assign(wanted.ranges.size(), object);
  for (std::size_t i = 0; i < wanted.ranges.size(); ++i)
    wanted.parts[i].size_bytes = wanted.ranges[i].length;
  co_return wanted;
}

// What it takes to have it in memory, or more than a lot has.
std::uint64_t BatchReader::memory_of(const Wanted& wanted) {
  std::uint64_t names = 0;
  for (const Part& part : wanted.parts)
    names += kPartBytes + part.field.size();
  const std::uint64_t data = total_bytes(wanted.ranges);
  return data > kLotBytes ? data : data + names;
}

// What the next items want, until a lot is full.
rt::Task<void> BatchReader::gather() {
  const std::uint64_t max_bytes = at_ == 0 ? kFirstLotBytes : kLotBytes;
  outcomes_.clear();
  wanted_.clear();
  for (std::uint64_t bytes = 0; at_ < request_.items.size() && outcomes_.size() < kLotItems;) {
    auto wanted = co_await want(request_.items[at_]);
    // Damage of the index and the like: read_alone() finds out whether it is still so.
    const std::uint64_t size = wanted ? memory_of(*wanted) : wanted.error().detail().size();
    if (bytes > 0 && size > max_bytes - bytes) break;
    Outcome outcome{.item = at_++};
    if (!wanted) outcome.status = fail(wanted.error());
    outcomes_.push_back(std::move(outcome));
    wanted_.push_back(wanted ? std::move(*wanted) : Wanted{});
    bytes += size;
    if (bytes >= max_bytes) break;
    if (at_ % kItemsAtOnce == 0) LEAT_CO_DO(co_await rt::yield());
  }
  co_return Status{};
}

// Gives each part its place in memory, or the item a stream.
void BatchReader::lay_out() {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    Wanted& wanted = wanted_[i];
    outcomes_[i].parts = std::move(wanted.parts);
    if (total_bytes(wanted.ranges) <= kLotBytes) bytes += total_bytes(wanted.ranges);
  }
  memory_ = std::make_shared_for_overwrite<std::byte[]>(bytes);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    Wanted& wanted = wanted_[i];
    std::vector<Part>& parts = outcomes_[i].parts;
    if (total_bytes(wanted.ranges) > kLotBytes) {
      const Ranges ranges = std::exchange(wanted.ranges, {});
      for (std::size_t k = 0; k < ranges.size(); ++k) {
        parts[k].stream = std::make_unique<RangesSource>(store_, *wanted.objects[k]->found,
                                                         Ranges{ranges[k]}, std::string());
      }
      continue;
    }
    for (Part& part : parts) {
      part.bytes = Bytes(memory_.get() + at, part.size_bytes);
      at += part.size_bytes;
    }
  }
}

rt::Task<void> BatchReader::read_run(Reading& reading, std::size_t first, std::size_t count) {
  const std::span<Job> jobs = std::span(reading.jobs).subspan(first, count);
  std::uint64_t end = 0;
  for (const Job& job : jobs)
    end = std::max(end, end_of(job.range));
  std::uint64_t at = jobs.front().range.offset;
  const volume::ByteRange all{.offset = at, .length = end - at};
  const store::Found& found = *jobs.front().object->found;
  LEAT_CO_TRY(store::Body body, co_await reading.store.read(found, all));
  auto* content = std::get_if<volume::Content>(&body);
  for (;;) {
    Bytes piece;
    if (content != nullptr) {
      piece = std::exchange(content->bytes, Bytes());
    } else {
      LEAT_CO_TRY(piece, co_await std::get<std::unique_ptr<store::ObjectStream>>(body)->next());
    }
    if (piece.empty()) break;
    for (Job& job : jobs) {
      const std::uint64_t from = std::max(at, job.range.offset);
      const std::uint64_t to = std::min(at + piece.size(), end_of(job.range));
      if (from >= to) continue;
      std::ranges::copy(piece.subspan(from - at, to - from),
                        job.target.subspan(from - job.range.offset).begin());
    }
    at += piece.size();
  }
  for (Job& job : jobs)
    job.is_done = at >= end_of(job.range);
  co_return Status{};
}

rt::Task<void> BatchReader::work(std::shared_ptr<Reading> reading) {
  while (reading->at < reading->jobs.size()) {
    const std::size_t first = reading->at;
    const std::size_t count = reading->run_at(first);
    reading->at += count;
    // What fails is read again alone, and tells its own error then.
    static_cast<void>(co_await read_run(*reading, first, count));
    LEAT_CO_DO(co_await rt::yield());
  }
  co_return Status{};
}

rt::Task<void> BatchReader::read() {
  const auto reading = std::make_shared<Reading>(Reading{.store = store_, .memory = memory_});
  std::byte* at = memory_.get();
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    for (std::size_t k = 0; k < wanted_[i].ranges.size(); ++k) {
      const volume::ByteRange& range = wanted_[i].ranges[k];
      if (range.length == 0) continue;
      reading->jobs.push_back({.outcome = i,
                               .object = wanted_[i].objects[k],
                               .range = range,
                               .target = MutableBytes(at, range.length)});
      at += range.length;
    }
  }
  std::ranges::sort(reading->jobs, {},
                    [](const Job& job) { return std::pair(job.object.get(), job.range.offset); });
  reading->workers = std::min(kReadsInFlight, reading->jobs.size());
  if (reading->workers > 0) {
    auto all_done = rt::suspend<void>([this, &reading](rt::Resume<void> resume) {
      reading->waiting = std::move(resume);
      const std::size_t workers = reading->workers;
      for (std::size_t i = 0; i < workers; ++i) {
        store_.shard().spawn(work(reading), [reading](Status) {
          if (--reading->workers == 0) (*std::exchange(reading->waiting, std::nullopt))(Status{});
        });
      }
    });
    LEAT_CO_DO(co_await std::move(all_done));
  }
  std::vector<bool> was_read_alone(outcomes_.size());
  for (const Job& job : reading->jobs) {
    if (job.is_done || was_read_alone[job.outcome]) continue;
    was_read_alone[job.outcome] = true;
    LEAT_CO_DO(co_await read_alone(job.outcome));
  }
  co_return Status{};
}

rt::Task<std::string> BatchReader::read_all(const Wanted& wanted) {
  std::string bytes;
  bytes.reserve(total_bytes(wanted.ranges));
  for (std::size_t i = 0; i < wanted.ranges.size(); ++i) {
    RangesSource source(store_, *wanted.objects[i]->found, Ranges{wanted.ranges[i]}, std::string());
    for (;;) {
      LEAT_CO_TRY(const Bytes piece, co_await source.next());
      if (piece.empty()) break;
      bytes += as_text(piece);
    }
  }
  co_return bytes;
}

void BatchReader::forget(const BatchItem& item) {
  if (item.what != BatchItem::What::places) resolved_[item.object] = nullptr;
  for (const PlacedField& one : item.places)
    resolved_[one.object] = nullptr;
}

// An item whose read failed: replaced meanwhile, or damaged, or a neighbour is.
rt::Task<void> BatchReader::read_alone(std::size_t number) {
  Outcome& outcome = outcomes_[number];
  outcome.parts.clear();
  const BatchItem& item = request_.items[outcome.item];
  for (int race = 0;; ++race) {
    forget(item);
    auto wanted = co_await want(item);
    if (!wanted) {
      outcome.status = fail(wanted.error());
      co_return Status{};
    }
    // It was small when the lot was made: what came since may be larger than memory.
    if (total_bytes(wanted->ranges) > kLotBytes) {
      outcome.status =
          fail(Errc::conflict, "it was replaced by a much larger one while it was read; ask again");
      co_return Status{};
    }
    auto bytes = co_await read_all(*wanted);
    if (!bytes && bytes.error().code() == Errc::not_found && race < kRaces) continue;
    if (!bytes) {
      outcome.status = fail(bytes.error());
      co_return Status{};
    }
    outcome.parts = std::move(wanted->parts);
    outcome.own = *std::move(bytes);
    Bytes rest = as_bytes(outcome.own);
    for (Part& part : outcome.parts) {
      part.bytes = rest.first(part.size_bytes);
      rest = rest.subspan(part.size_bytes);
    }
    co_return Status{};
  }
}

rt::Task<std::span<BatchReader::Outcome>> BatchReader::next() {
  LEAT_CO_DO(co_await gather());
  lay_out();
  LEAT_CO_DO(co_await read());
  co_return std::span(outcomes_);
}

}  // namespace leat::shards
