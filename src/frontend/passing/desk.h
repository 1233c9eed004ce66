// Desk: passes the open files of objects to clients on the same machine, over a Unix socket, for
// tickets that were issued to those who may read them.
//
// Who may is not decided here: whoever issues a ticket has asked (frontend/training). The socket is
// open to every process of the machine, and a connection without a good ticket gets nothing and is
// closed. docs/adr/0018-open-files-for-clients-of-the-same-machine.md,
// docs/formats/handover.md.
//
// Bounds: connections, tickets, and the time for each step of a client. Who does not read what it
// asked for is cut off and holds up nobody.
//
// Shard: its own; issue() may be called from any. Lifetime: the tools outlive it; stop() has
// returned before it is destroyed, if start() was called.
#pragma once

#include <memory>
#include <string>

#include "io/clock.h"
#include "io/unix_socket.h"
#include "io/watchdog.h"
#include "log/logger.h"
#include "metrics/registry.h"
#include "passing/tickets.h"
#include "rt/gate.h"

namespace leat::passing {

struct DeskTools {
  rt::Shard& shard;
  io::Clock& clock;
  io::Rng& rng;
  log::Logger& logger;
  metrics::Registry& metrics;
};

struct DeskOptions {
  TicketOptions tickets{};
  std::size_t connections_max = 64;
  // How long a client may take to send a ticket, and to take the answer.
  Duration patience = std::chrono::seconds(10);
};

// A name for a socket that nobody can know before it is told: "@leat-…".
std::string random_socket_name(io::Rng& rng);

class Desk {
 public:
  Desk(const DeskTools& tools, DeskOptions options);

  // Takes the name of the socket (io/unix_socket.h). Before start().
  // Errors: those of io::UnixListener::listen().
  Status listen(const std::string& name);
  const std::string& socket() const { return listener_->name(); }

  // Requires: listen() has succeeded. Shard: its own.
  void start();
  // Cuts all connections; tickets are good for nothing any more. Shard: its own.
  rt::Task<void> stop();

  // A ticket for each, in order; nothing where there are too many. `from`: the caller's shard.
  // The openers are called on the desk's shard. Errors: busy.
  using Issued = std::vector<std::optional<handover::Ticket>>;
  rt::Task<Issued> issue(std::vector<Opener> openers, rt::Shard& from);

  rt::Shard& shard() const { return tools_.shard; }
  std::size_t connections() const { return watchdog_.watched(); }

 private:
  rt::Task<Issued> issue_here(std::vector<Opener>& openers);
  rt::Task<void> accept_loop(rt::Gate::Pass pass);
  rt::Task<void> serve(std::unique_ptr<io::UnixStream> stream, rt::Gate::Pass pass);
  rt::Task<void> converse(io::UnixStream& stream, io::Watchdog::Watch& watch);
  // Errors: what to refuse the client with.
  rt::Task<std::vector<OpenFile>> open(const handover::Ticket& ticket);
  rt::Task<void> pass(io::UnixStream& stream, const std::vector<OpenFile>& files);
  void note_refusal(const io::UnixStream& stream, const Error& error);

  const DeskTools tools_;
  const DeskOptions options_;
  Tickets tickets_;
  io::Watchdog watchdog_;
  std::unique_ptr<io::UnixListener> listener_;
  rt::Gate gate_;
  Instant next_warning_{};

  metrics::Gauge& tickets_out_;
  metrics::Gauge& connections_open_;
  metrics::Counter& connections_refused_;
  metrics::Counter& tickets_refused_;
  metrics::Counter& objects_passed_;
  metrics::Counter& files_passed_;
};

}  // namespace leat::passing
