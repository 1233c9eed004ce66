#include "leat/node_desk.h"

#include <fmt/format.h>

namespace leat::programs {

Status NodeDesk::prepare(std::span<const ShardTools> shards) {
  if (setting_ == "off") return {};
  const bool is_name = setting_.starts_with('@') || setting_.starts_with('/');
  if (setting_ != "auto" && !is_name) {
    return fail(
        Errc::bad_request,
        fmt::format("local.socket: '{}' is not auto, off, an absolute path or @NAME", setting_));
  }
  const ShardTools& tools = shards.front();
  auto desk = std::make_unique<passing::Desk>(passing::DeskTools{.shard = tools.shard,
                                                                 .clock = tools.clock,
                                                                 .rng = tools.rng,
                                                                 .logger = logger_,
                                                                 .metrics = metrics_},
                                              passing::DeskOptions{});
  const Status listening =
      desk->listen(is_name ? setting_ : passing::random_socket_name(tools.rng));
  if (!listening) {
    return fail(listening.error().code(),
                fmt::format("local.socket: {}", listening.error().detail()));
  }
  desk_ = std::move(desk);
  return {};
}

rt::Task<void> NodeDesk::start(rt::Shard& shard) {
  if (desk_ != nullptr && &shard == &desk_->shard()) desk_->start();
  co_return Status{};
}

rt::Task<void> NodeDesk::stop(rt::Shard& shard) {
  if (desk_ == nullptr || &shard != &desk_->shard()) co_return Status{};
  co_return co_await desk_->stop();
}

}  // namespace leat::programs
