#include "leat/node_control.h"

namespace leat::programs {
namespace {

// One process has the file at a time, so that one name does.
constexpr std::string_view kSession = "node";

}  // namespace

Status NodeControl::prepare(std::span<const ShardTools> shards) {
  const ShardTools& tools = shards.front();
  home_ = &tools.shard;
  const control::SqliteTools parts{
      .shard = tools.shard, .pool = tools.pool, .disk = disk_, .clock = tools.clock};
  LEAT_TRY(store_, control::SqliteStore::open(parts, folder_, {}));
  client_ = std::make_unique<control::ControlClient>(*store_, tools.clock, tools.rng,
                                                     std::string(kSession));
  desk_ = std::make_unique<datasets::ControlDesk>(tools.shard, *client_);
  return {};
}

rt::Task<void> NodeControl::start(rt::Shard& /*shard*/) {
  co_return Status{};
}

rt::Task<void> NodeControl::stop(rt::Shard& shard) {
  if (&shard != home_ || store_ == nullptr) co_return Status{};
  co_return co_await store_->stop();
}

}  // namespace leat::programs
