#include "ingest/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/grouping.h"
#include "shard/sample_name.h"

namespace leat::ingest {
namespace {

constexpr std::uint64_t kSampleBytes = 256;  // what a sample costs beside its data

std::string member_name(const Sample& sample, std::string_view field) {
  return fmt::format("{}.{}", sample.key, field);
}

// The service has looked at the commit and has not made it. Anything else may stand behind a commit
// whose answer was lost; also a conflict, which may be one with ourselves.
bool is_refusal(const Error& error) {
  switch (error.code()) {
    case Errc::bad_request:
    case Errc::denied:
    case Errc::not_found:
    case Errc::not_implemented: return true;
    default: return false;
  }
}

}  // namespace

std::uint64_t Sample::size_bytes() const {
  std::uint64_t bytes = kSampleBytes;
  for (const auto& [field, data] : fields)
    bytes += data.size();
  return bytes;
}

Status check_sample(Sample& sample) {
  if (sample.fields.empty()) return fail(Errc::bad_request, "a sample has no field");
  std::ranges::sort(sample.fields, {}, &std::pair<std::string, std::string>::first);
  std::string_view last;
  for (const auto& [field, data] : sample.fields) {
    const std::string name = member_name(sample, field);
    if (const auto why = refusal_of_name(name); !why.empty()) {
      return fail(Errc::bad_request, fmt::format("{}: {}", name, why));
    }
    const auto split = shard::split_name(name);
    if (!split || split->key != sample.key || split->field != field) {
      return fail(Errc::bad_request,
                  fmt::format("{}: readers would not find the field {} of the sample {}; the last "
                              "part of a key has no dot, fields are in lower case",
                              name, field, sample.key));
    }
    if (field == last) {
      return fail(Errc::bad_request, fmt::format("{}: the field is there twice", name));
    }
    last = field;
  }
  return {};
}

Writer::Writer(transfer::Tools& tools, io::Rng& rng, WriterOptions options)
    : tools_(tools),
      options_(std::move(options)),
      id_(fmt::format("{}-{:016x}", options_.transaction, rng.next())) {}

Writer::~Writer() = default;

rt::Task<void> Writer::add(Sample sample) {
  LEAT_CO_DO(check_sample(sample));
  LEAT_CO_TRY(const auto held, co_await turn_.take());
  if (is_closed_) co_return fail(Errc::closed, "the writer takes no more samples");
  ++samples_;
  Status done = co_await mix(std::move(sample));
  if (!done) is_closed_ = true;
  co_return done;
}

// What is in the reservoir stays on average until as many others came.
rt::Task<void> Writer::mix(Sample sample) {
  if (options_.mix_bytes == 0) co_return co_await pack(std::move(sample));
  if (!mixer_) {
    held_bytes_ += sample.size_bytes();
    held_.emplace_back(std::move(sample));
    if (held_bytes_ < options_.mix_bytes) co_return Status{};
    mixer_.emplace(held_.size(), options_.seed);
    for (std::size_t i = 0; i < held_.size(); ++i)
      mixer_->on_item();  // they have their slots
    co_return Status{};
  }
  // Samples that are much larger than the first ones were must not fill the memory.
  if (held_bytes_ + sample.size_bytes() > 2 * options_.mix_bytes) {
    co_return co_await pack(std::move(sample));
  }
  const auto out = mixer_->on_item();
  Sample leaving = std::move(*held_[out.slot]);
  held_bytes_ += sample.size_bytes() - leaving.size_bytes();
  held_[out.slot] = std::move(sample);
  co_return co_await pack(std::move(leaving));
}

rt::Task<void> Writer::pack(Sample sample) {
  // Two neighbours of one key would be read as one sample.
  const bool is_repeated = shard_ != nullptr && last_key_ == sample.key;
  if (shard_ != nullptr && (is_repeated || shard_->size_bytes() >= options_.shard_bytes)) {
    LEAT_CO_DO(co_await finish_shard());
  }
  if (shard_ == nullptr) {
    s3client::ObjectName target{options_.bucket,
                                options_.shard_name.key(options_.name, keys_.size(), id_)};
    s3client::Content content{.type = "application/x-tar",
                              .metadata = {{"leat-dataset", options_.name}}};
    shard_ = std::make_unique<ShardStream>(tools_, std::move(target), std::move(content));
  }
  last_key_ = sample.key;
  for (auto& [field, data] : sample.fields) {
    std::string name = member_name(sample, field);
    LEAT_CO_DO(co_await shard_->add(std::move(name), std::move(data)));
  }
  co_return Status{};
}

rt::Task<void> Writer::finish_shard() {
  LEAT_CO_DO(co_await shard_->finish());
  keys_.push_back(shard_->target().key);
  shard_bytes_ += shard_->size_bytes();
  shard_.reset();
  co_return Status{};
}

rt::Task<void> Writer::drain() {
  if (!mixer_ && !held_.empty()) {
    mixer_.emplace(held_.size(), options_.seed);
    for (std::size_t i = 0; i < held_.size(); ++i)
      mixer_->on_item();
  }
  while (mixer_) {
    const auto slot = mixer_->on_end();
    if (!slot) break;
    Sample leaving = std::move(*held_[*slot]);
    held_[*slot].reset();
    LEAT_CO_DO(co_await pack(std::move(leaving)));
  }
  held_.clear();
  mixer_.reset();
  if (shard_ != nullptr) LEAT_CO_DO(co_await finish_shard());
  co_return Status{};
}

rt::Task<Committed> Writer::commit() {
  LEAT_CO_TRY(const auto held, co_await turn_.take());
  if (is_closed_ && (shard_ != nullptr || !held_.empty() || keys_.empty())) {
    co_return fail(Errc::closed, "the writer has failed or was given up: nothing can be committed");
  }
  is_closed_ = true;
  if (samples_ == 0) co_return fail(Errc::bad_request, "there is no sample to commit");
  LEAT_CO_DO(co_await drain());
  LEAT_CO_TRY(Committed done, co_await make_version());
  // All shards are in the version already: an earlier call was made, and its answer was lost. Other
  // writers may stand behind us by now, so the last shard tells nothing.
  if (!done.is_new) co_return done;
  auto looking =
      ends_with(tools_.client, options_.bucket + "/" + options_.name, done, keys_.back());
  const auto is_ours = co_await std::move(looking);
  // Who cannot tell removes nothing.
  if (!is_ours || *is_ours) co_return done;
  done.is_new = false;
  const Status removed = co_await remove_shards();
  (void)removed;  // what stays is no part of a version
  co_return done;
}

rt::Task<Committed> Writer::make_version() {
  const std::string dataset = options_.bucket + "/" + options_.name;
  LEAT_CO_TRY(const Standing standing, co_await look_at_dataset(tools_.client, dataset));
  NewVersion next{.dataset = dataset,
                  .shards = keys_,
                  .message = options_.message,
                  .transaction = options_.transaction};
  next.samples = samples_;
  if (options_.replaces) next.replaces = standing.version;
  const bool was_in_doubt = std::exchange(may_be_committed_, true);
  auto done = co_await commit_version(tools_.client, standing, std::move(next));
  if (!done && is_refusal(done.error())) may_be_committed_ = was_in_doubt;
  co_return done;
}

rt::Task<void> Writer::abort() {
  LEAT_CO_TRY(const auto held, co_await turn_.take());
  is_closed_ = true;
  held_.clear();
  mixer_.reset();
  Status first;
  if (shard_ != nullptr) {
    first = co_await shard_->drop();
    shard_.reset();
  }
  if (may_be_committed_) co_return first;
  Status removed = co_await remove_shards();
  co_return first ? std::move(removed) : std::move(first);
}

rt::Task<void> Writer::remove_shards() {
  Status first;
  while (!keys_.empty()) {
    s3client::ObjectName name{options_.bucket, keys_.back()};
    keys_.pop_back();
    Status removed = co_await s3client::delete_object(tools_.client, std::move(name));
    if (!removed && first) first = std::move(removed);
  }
  co_return first;
}

}  // namespace leat::ingest
