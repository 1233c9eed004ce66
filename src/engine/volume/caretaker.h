// Caretaker: what a volume needs done beside serving, in the background, at a set rate.
//
// It empties the trash of what is due (earlier when the disk is full), removes files nobody needs,
// rewrites thin segments, collects orphans once after the start, and reads everything now and then
// to find damage before somebody asks for it. All of it gives way to requests: it sleeps between
// steps so that scrubbing stays below its rate.
//
// Shard: the volume's home. Lifetime: what Tools refers to outlives it; stop() before destroying.
#pragma once

#include <cstdint>
#include <string>

#include "metrics/registry.h"
#include "rt/gate.h"
#include "volume/disk_watch.h"
#include "volume/reader.h"
#include "volume/volume.h"

namespace leat::volume {

struct CaretakerOptions {
  Duration period = std::chrono::seconds(10);
  // How often the metrics of the disk are brought up to date.
  Duration watch_period = std::chrono::seconds(1);
  // Bytes read by a scrub in a second; 0: no scrubbing.
  std::uint64_t scrub_rate_bytes = 32 * kMiB;
  // How long after the end of one scrub the next begins.
  Duration scrub_pause = std::chrono::hours(24);
};

struct CaretakerTools {
  rt::Shard& shard;
  io::Clock& clock;
  log::Logger& logger;
  metrics::Registry& metrics;
};

class Caretaker {
 public:
  Caretaker(Volume& volume, ShardKit kit, CaretakerTools tools, CaretakerOptions options);

  void start();
  // Returns when nothing of it runs any more.
  rt::Task<void> stop();

  // Reads and verifies everything once. Errors: those of the index; damage is reported, not
  // returned.
  rt::Task<ScrubProgress> scrub();

 private:
  rt::Task<void> tidy_loop(rt::Gate::Pass pass);
  rt::Task<void> scrub_loop(rt::Gate::Pass pass);
  rt::Task<void> watch_loop(rt::Gate::Pass pass);
  rt::Task<void> tidy();
  rt::Task<void> scrub_step(const record::ObjectKey& object, const record::Version& version);
  rt::Task<void> verify(const record::Version& version);
  // False once stop() was called.
  rt::Task<bool> rest(Duration duration);
  void report(std::string_view what, const Error& error);

  Volume& volume_;
  VolumeReader reader_;
  CaretakerTools tools_;
  CaretakerOptions options_;
  ScrubProgress& progress_;  // the volume's
  Throttle scrubbing_;
  rt::Gate gate_;
  metrics::Counter& purged_;
  metrics::Counter& compacted_;
  metrics::Counter& scrubbed_bytes_;
  metrics::Counter& damage_found_;
  DiskWatch watch_;
};

}  // namespace leat::volume
