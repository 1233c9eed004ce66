// What the long tests of the engine share: a logger that keeps quiet, numbers from the environment,
// and one map that stays open, because the first of a process is the expensive one.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "kv/kv.h"
#include "log/logger.h"
#include "log/sink.h"
#include "sim/sim_disk.h"

namespace leat::model {

inline std::uint64_t number_from_env(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class TestEnvironment {
 public:
  TestEnvironment() {
    auto opened = kv::Kv::open(disk_, "idle", {.cache_bytes = 1 << 20, .quiet = true});
    if (opened) idle_ = std::move(*opened);
  }
  log::Logger& logger() { return logger_; }

 private:
  class NullSink final : public log::Sink {
   public:
    Status write(std::string_view /*lines*/) override { return {}; }
  };

  sim::Timeline timeline_;
  sim::SimClock clock_{timeline_};
  sim::SimDisk disk_{clock_, 1};
  NullSink sink_;
  log::Logger logger_{sink_, clock_};
  std::unique_ptr<kv::Kv> idle_;
};

}  // namespace leat::model
