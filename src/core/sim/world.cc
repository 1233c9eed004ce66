#include "sim/world.h"

#include <fmt/format.h>

#include "sim/trace.h"

namespace leat::sim {

SimWorld::SimWorld(std::uint64_t seed, WorldOptions options)
    : seed_(seed),
      options_(options),
      rng_(seed),
      fabric_(timeline_, options.network, seed_for("network")) {}

// Tasks that wait are destroyed while everything they may hold is still there.
SimWorld::~SimWorld() {
  fabric_.drop_waiters();
  timeline_.clear();
}

SimWorld::Host::Host(SimWorld& world, const std::string& name)
    : clock(world.timeline_),
      disk(clock, world.seed_for("disk " + name), name),
      file_io(world.timeline_, disk, world.seed_for("file_io " + name), world.options_.files),
      network(world.fabric_, name) {}

SimWorld::Host& SimWorld::host_of(const std::string& name) {
  std::unique_ptr<Host>& host = hosts_[name];
  if (!host) host = std::make_unique<Host>(*this, name);
  return *host;
}

std::uint64_t SimWorld::seed_for(const std::string& part) const {
  return io::SeededRng(seed_ ^ fnv1a(part)).next();
}

bool SimWorld::step(Instant limit) {
  // A context that once ran out of work stays stopped until it is told otherwise.
  shard_.context().restart();
  if (shard_.context().poll_one() > 0) return true;
  const std::optional<Instant> next = timeline_.next_event();
  if (!next || *next > limit) return false;
  timeline_.fire_next();
  return true;
}

bool SimWorld::run_until_idle(Duration limit) {
  const Instant end = now() + limit;
  while (step(end)) {
  }
  return !timeline_.next_event().has_value();
}

void SimWorld::run_for(Duration duration) {
  const Instant end = now() + duration;
  while (step(end)) {
  }
  timeline_.advance_to(end);
}

bool SimWorld::run_until(const std::function<bool()>& done, Duration limit) {
  const Instant end = now() + limit;
  while (!done()) {
    if (!step(end)) return false;
  }
  return true;
}

std::string SimWorld::describe() const {
  const NetworkOptions& net = options_.network;
  const FileIoOptions& files = options_.files;
  return fmt::format(
      "simulation: seed {} at {} ns after {} events, trace {:016x}\n"
      "  network: latency {} ns + {} ns, buffer {} bytes, short {} %, connect timeout {} ns\n"
      "  files: read {} ns, write {} ns, sync {} ns, + {} ns\n{}",
      seed_, now().time_since_epoch().count(), timeline_.trace().events(), timeline_.trace().hash(),
      net.latency.count(), net.jitter.count(), net.buffer_bytes, net.short_percent,
      net.connect_timeout.count(), files.read.count(), files.write.count(), files.sync.count(),
      files.jitter.count(), timeline_.trace().recent());
}

}  // namespace leat::sim
