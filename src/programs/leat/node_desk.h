// NodeDesk: the socket of `leat serve` that passes open files to clients of the same machine, if
// the setting `local.socket` wants it.
#pragma once

#include <memory>
#include <string>

#include "leat/server_process.h"
#include "passing/desk.h"

namespace leat::programs {

class NodeDesk final : public Foundation {
 public:
  // `setting`: "auto", "off", the path of a socket, or '@' and a name.
  // Lifetime: logger and metrics outlive it.
  NodeDesk(std::string setting, log::Logger& logger, metrics::Registry& metrics)
      : setting_(std::move(setting)), logger_(logger), metrics_(metrics) {}

  // Errors: those of io::UnixListener::listen(), with the setting's name.
  Status prepare(std::span<const ShardTools> shards) override;
  rt::Task<void> start(rt::Shard& shard) override;
  rt::Task<void> stop(rt::Shard& shard) override;

  // Null when it is turned off. Requires: prepared.
  passing::Desk* desk() { return desk_.get(); }

 private:
  const std::string setting_;
  log::Logger& logger_;
  metrics::Registry& metrics_;
  std::unique_ptr<passing::Desk> desk_;
};

}  // namespace leat::programs
