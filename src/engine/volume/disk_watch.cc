#include "volume/disk_watch.h"

namespace leat::volume {
namespace {

constexpr std::string_view kStateHelp = "1 for the state that the disk is in.";

metrics::Gauge& state_gauge(metrics::Registry& metrics, const Volume& volume, std::string state) {
  return metrics.gauge("leat_disk_state", kStateHelp,
                       {{"disk", volume.folders().root()}, {"state", std::move(state)}});
}

metrics::Labels labels_of(const Volume& volume) {
  return {{"disk", volume.folders().root()}};
}

index::Counts count_all(const index::Index& index) {
  index::Counts all;
  for (const auto& bucket : index.buckets()) {
    const index::Counts some = index.counts(bucket.first);
    all.objects += some.objects;
    all.bytes += some.bytes;
  }
  return all;
}

}  // namespace

DiskWatch::DiskWatch(const Volume& volume, metrics::Registry& metrics)
    : volume_(volume),
      ok_(state_gauge(metrics, volume, "ok")),
      full_(state_gauge(metrics, volume, "full")),
      failed_(state_gauge(metrics, volume, "failed")),
      total_bytes_(metrics.gauge("leat_disk_total_bytes", "Size of the disk's file system.",
                                 labels_of(volume))),
      available_bytes_(metrics.gauge("leat_disk_available_bytes",
                                     "What of it can still be written.", labels_of(volume))),
      objects_(metrics.gauge("leat_disk_objects", "Objects on the disk, without kept versions.",
                             labels_of(volume))),
      object_bytes_(
          metrics.gauge("leat_disk_object_bytes", "Bytes of those objects.", labels_of(volume))),
      quarantined_(metrics.gauge("leat_disk_quarantined_objects",
                                 "Objects that are known to be damaged.", labels_of(volume))),
      damaged_reads_(metrics.counter("leat_disk_damaged_reads_total",
                                     "Reads, by requests and scrubs, that met damage.",
                                     labels_of(volume))),
      io_errors_(metrics.counter("leat_disk_read_errors_total",
                                 "Reads that the disk answered with an error.", labels_of(volume))),
      write_errors_(metrics.counter("leat_disk_write_errors_total",
                                    "Writes and syncs that the disk answered with an error.",
                                    labels_of(volume))) {}

void DiskWatch::set_state(bool is_ok, bool is_full, bool is_failed) {
  ok_.set(is_ok ? 1 : 0);
  full_.set(is_full ? 1 : 0);
  failed_.set(is_failed ? 1 : 0);
}

void DiskWatch::look() {
  const bool is_failed = volume_.failure().has_value();
  const SpaceUse space = volume_.space();
  set_state(!is_failed && !space.is_full, !is_failed && space.is_full, is_failed);
  total_bytes_.set(static_cast<double>(space.total_bytes));
  available_bytes_.set(static_cast<double>(space.available_bytes));
  const index::Counts counts = count_all(volume_.index());
  objects_.set(static_cast<double>(counts.objects));
  object_bytes_.set(static_cast<double>(counts.bytes));
  quarantined_.set(static_cast<double>(volume_.quarantine().size()));
  const ReadFailures& failures = volume_.read_failures();
  damaged_reads_.add(failures.damaged - counted_.damaged);
  io_errors_.add(failures.io_errors - counted_.io_errors);
  counted_ = failures;
  write_errors_.add(volume_.write_errors() - counted_writes_);
  counted_writes_ = volume_.write_errors();
}

void DiskWatch::leave() {
  look();
  set_state(false, false, false);
  for (metrics::Gauge* gauge :
       {&total_bytes_, &available_bytes_, &objects_, &object_bytes_, &quarantined_})
    gauge->set(0);
}

}  // namespace leat::volume
