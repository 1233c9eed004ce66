// Session: a command's connection to a service: shards, clients on them, and what it was asked.
//
// run_client() parses the words, finds service and credentials, runs the command's body as a task
// on the first shard, and turns its outcome into an exit code. ^C at any time is safe: what was
// finished stays, and what was not is not to be seen; the command says how to go on.
//
// Shard: the first one. Lifetime: run_client() holds it while the body runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "leat/arguments.h"
#include "leat/client_settings.h"
#include "leat/command.h"
#include "transfer/location.h"
#include "transfer/tools.h"

namespace leat::programs {

class Session {
 public:
  virtual ~Session() = default;

  const Invocation& invocation;
  const Arguments& arguments;
  const ClientSettings& settings;

  bool wants_json() const { return arguments.has("--json"); }
  bool is_quiet() const { return arguments.has("--quiet"); }
  const std::vector<std::string>& words() const { return arguments.positionals; }

  // Of the first shard.
  transfer::Tools& tools() { return *members().front(); }
  s3client::S3Client& client() { return tools().client; }
  // Of all shards.
  virtual std::vector<transfer::Tools*> members() = 0;
  // The same tools, but all paths are below `root` and cannot leave it. Errors: as Disk::open().
  virtual Result<std::vector<transfer::Tools*>> members_below(const std::string& root) = 0;

  // What ^C says, beside that it was interrupted. Safe from this shard alone.
  virtual void set_interrupt_advice(std::string advice) = 0;

 protected:
  Session(const Invocation& i, const Arguments& a, const ClientSettings& s)
      : invocation(i), arguments(a), settings(s) {}
};

using ClientBody = rt::Task<Exit> (*)(Session& session);

// One shard is enough for commands that move no data; 0 takes one for each core.
struct ClientCommand {
  ClientBody body;
  std::uint32_t shards = 1;
};

// Asks on the terminal; true without asking if --yes was given.
// Errors: bad_request, when nobody can be asked.
Status confirm(const Session& session, const std::string& question);

Exit run_client(const Grammar& grammar, const Invocation& invocation, ClientCommand command);

}  // namespace leat::programs
