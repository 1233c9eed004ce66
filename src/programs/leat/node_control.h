// NodeControl: the control store of `leat serve`, in its first data directory.
#pragma once

#include <memory>
#include <string>

#include "control/control_client.h"
#include "control/sqlite_store.h"
#include "datasets/control_desk.h"
#include "leat/server_process.h"

namespace leat::programs {

class NodeControl final : public Foundation {
 public:
  // Lifetime: the disk outlives it.
  NodeControl(io::Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  // Errors: those of control::SqliteStore::open().
  Status prepare(std::span<const ShardTools> shards) override;
  rt::Task<void> start(rt::Shard& shard) override;
  rt::Task<void> stop(rt::Shard& shard) override;

  // Requires: prepared.
  datasets::ControlDesk& desk() { return *desk_; }

 private:
  io::Disk& disk_;
  const std::string folder_;
  rt::Shard* home_ = nullptr;  // the shard that it lives on
  std::unique_ptr<control::SqliteStore> store_;
  std::unique_ptr<control::ControlClient> client_;
  std::unique_ptr<datasets::ControlDesk> desk_;
};

}  // namespace leat::programs
