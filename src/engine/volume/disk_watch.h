// DiskWatch: the metrics that say how a disk is.
//
// What it looks at belongs to the volume's home, and a scrape comes from anywhere: so the caretaker
// brings the numbers up to date once a second.
//
// Shard: the volume's home. Lifetime: the volume and the registry outlive it.
#pragma once

#include "metrics/registry.h"
#include "volume/volume.h"

namespace leat::volume {

class DiskWatch {
 public:
  DiskWatch(const Volume& volume, metrics::Registry& metrics);

  void look();
  // The disk is taken out: it is in no state, and has nothing, from now on.
  void leave();

 private:
  void set_state(bool is_ok, bool is_full, bool is_failed);

  const Volume& volume_;
  ReadFailures counted_;  // of the volume's, what the counters have
  std::uint64_t counted_writes_ = 0;
  metrics::Gauge& ok_;
  metrics::Gauge& full_;
  metrics::Gauge& failed_;
  metrics::Gauge& total_bytes_;
  metrics::Gauge& available_bytes_;
  metrics::Gauge& objects_;
  metrics::Gauge& object_bytes_;
  metrics::Gauge& quarantined_;
  metrics::Counter& damaged_reads_;
  metrics::Counter& io_errors_;
  metrics::Counter& write_errors_;
};

}  // namespace leat::volume
