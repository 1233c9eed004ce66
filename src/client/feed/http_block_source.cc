#include "feed/http_block_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "s3client/operations.h"

namespace leat::feed {
namespace {

constexpr Duration kFirstWait = std::chrono::milliseconds(20);
constexpr Duration kWaitMax = std::chrono::seconds(1);
// Between two looks at whether somebody still wants it.
constexpr std::size_t kStepBytes = kMiB;

}  // namespace

rt::Task<void> HttpBlockSource::read_some(const snapshot::ShardEntry& shard, std::uint64_t offset,
                                          MutableBytes& target,
                                          const std::atomic<bool>& is_cancelled) {
  s3client::GetQuery query{.name = {shard.bucket, shard.key},
                           .offset = offset,
                           .length = target.size(),
                           .etag = shard.etag};
  LEAT_CO_TRY(auto response, co_await s3client::open_object(client_, std::move(query)));
  while (!target.empty()) {
    if (is_cancelled.load(std::memory_order_relaxed)) co_return fail(Errc::cancelled);
    const MutableBytes step = target.first(std::min(target.size(), kStepBytes));
    LEAT_CO_TRY(const std::size_t count, co_await response.read(step));
    if (count == 0) co_return fail(Errc::closed, "a shard's answer is shorter than asked for");
    target = target.subspan(count);
  }
  co_return Status{};
}

rt::Task<void> HttpBlockSource::read(const snapshot::ShardEntry& shard, std::uint64_t offset,
                                     MutableBytes target, const std::atomic<bool>& is_cancelled) {
  const std::uint64_t end = offset + target.size();
  Instant give_up = client_.clock().now() + patience_;
  Duration wait = kFirstWait;
  while (true) {
    if (is_cancelled.load(std::memory_order_relaxed)) co_return fail(Errc::cancelled);
    const std::size_t before = target.size();
    Status read = co_await read_some(shard, end - target.size(), target, is_cancelled);
    if (read) co_return Status{};
    if (read.error().code() == Errc::precondition_failed) {
      co_return fail(Errc::conflict, "the shard was replaced since the dataset was committed");
    }
    const Instant now = client_.clock().now();
    if (target.size() < before) {
      give_up = now + patience_;
      wait = kFirstWait;
    }
    const bool is_over = !s3client::is_transient(read.error()) || now + wait > give_up;
    if (is_over) co_return fail(std::move(read).error());
    LEAT_CO_DO(co_await client_.clock().sleep_until(now + wait));
    wait = std::min(wait * 2, kWaitMax);
  }
}

}  // namespace leat::feed
