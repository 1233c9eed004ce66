// Context: what all parts of one client share. Shard: the client's.
#pragma once

#include "httpclient/options.h"
#include "io/clock.h"
#include "io/network.h"
#include "io/watchdog.h"
#include "rt/shard.h"

namespace leat::httpclient {

struct Context {
  rt::Shard& shard;
  io::Network& network;
  io::Clock& clock;
  io::Watchdog& watchdog;
  Options options;
  Stats stats;
};

}  // namespace leat::httpclient
