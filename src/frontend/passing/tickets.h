// Tickets: who holds one may have the files of one version of an object, once, for a while.
//
// Pure but for chance: time is an argument. A ticket holds nothing open, only the way to open it.
// Shard: one.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "handover/handover.h"
#include "io/disk.h"
#include "io/rng.h"
#include "rt/task.h"

namespace leat::passing {

// An open file for a client, and what the client verifies it with.
struct OpenFile {
  std::shared_ptr<const io::File> file{};
  handover::FilePart part{};
};

// Opens the files of one version, in order, for nobody but the caller.
// Errors: not_found (the version is gone), and whatever keeps it from being opened.
using Opener = std::move_only_function<rt::Task<std::vector<OpenFile>>()>;

struct TicketOptions {
  std::size_t tickets_max = 10'000;
  Duration life = std::chrono::minutes(1);
};

class Tickets {
 public:
  // Lifetime: `rng` outlives it. Requires: nobody can guess what `rng` gives.
  Tickets(io::Rng& rng, TicketOptions options) : rng_(rng), options_(options) {}

  // Nothing when there are too many.
  std::optional<handover::Ticket> issue(Instant now, Opener opener);

  // Takes it in. Nothing when it is unknown, was used or is too old: nobody learns which.
  std::optional<Opener> redeem(Instant now, const handover::Ticket& ticket);

  // Those that are out, also if they are too old and nobody asked since.
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    handover::Ticket ticket;
    Instant end;
    Opener opener;
  };
  using Entries = std::list<Entry>;

  void drop_old(Instant now);

  io::Rng& rng_;
  const TicketOptions options_;
  Entries entries_;  // the oldest first: all live equally long
  std::map<handover::Ticket, Entries::iterator> by_ticket_;
};

}  // namespace leat::passing
