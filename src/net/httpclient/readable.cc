#include "httpclient/readable.h"

#include <utility>

namespace leat::httpclient {
namespace {

// Whoever comes first wakes the waiting task.
struct Race {
  rt::Resume<bool> resume;

  void end(Result<bool> result) {
    if (resume) resume(std::move(result));
  }
};

rt::Task<void> run_stream(std::shared_ptr<io::Stream> stream, std::shared_ptr<Race> race) {
  Status readable = co_await stream->wait(io::Interest::read);
  Result<bool> result = true;
  if (!readable) result = fail(std::move(readable).error());
  race->end(std::move(result));
  co_return Status{};
}

rt::Task<void> run_clock(io::Clock& clock, Instant limit, std::shared_ptr<Race> race) {
  LEAT_CO_DO(co_await clock.sleep_until(limit));
  race->end(false);
  co_return Status{};
}

}  // namespace

rt::Task<bool> readable_before(rt::Shard& shard, io::Clock& clock,
                               std::shared_ptr<io::Stream> stream, Instant limit) {
  auto start = [&shard, &clock, stream = std::move(stream),
                limit](rt::Resume<bool> resume) mutable {
    auto race = std::make_shared<Race>(std::move(resume));
    shard.spawn(run_stream(std::move(stream), race), [](const Status&) {});
    shard.spawn(run_clock(clock, limit, race), [](const Status&) {});
  };
  return rt::suspend<bool>(std::move(start));
}

}  // namespace leat::httpclient
