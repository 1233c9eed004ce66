// Waiting for a stream with a limit that leaves the stream usable, which an interrupt would not.
#pragma once

#include <memory>

#include "io/clock.h"
#include "io/stream.h"
#include "rt/shard.h"

namespace leat::httpclient {

// True when the stream can be read, false when `limit` comes first. A wait that lost goes on in the
// background until the stream is read or interrupted, and keeps the stream until then.
// Lifetime: shard and clock outlive these waits. Errors: what the stream's wait() answers.
rt::Task<bool> readable_before(rt::Shard& shard, io::Clock& clock,
                               std::shared_ptr<io::Stream> stream, Instant limit);

}  // namespace leat::httpclient
