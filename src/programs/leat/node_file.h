// NodeFile: where the node on a data directory listens, for commands on the same machine.
//
// `leat serve` writes `node.json` into its first data directory and holds a lock on it while it
// runs. A file that nobody holds was left by a process that is gone, however it ended: it tells
// nothing. Each start writes a new file, so that who looks at an old one never stands in its way.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/disk.h"
#include "io/stream.h"

namespace leat::programs {

struct NodeFile {
  std::string url{};  // "http://127.0.0.1:9000"
  std::string region{};
  std::string ca_file{};  // what vouches for its certificate; empty for plain connections

  bool operator==(const NodeFile&) const = default;
};

// The same port on an address that clients can name: "0.0.0.0" is none.
io::Address reachable(io::Address address);

// The file, held. Lifetime: while it is kept, running_node() finds the node. Errors: denied,
// no_space, io.
Result<std::unique_ptr<io::File>> publish_node(io::Disk& disk, const std::string& directory,
                                               const NodeFile& node);

// The node that runs on the directory; nothing if none does. Errors: denied, io, corrupt.
Result<std::optional<NodeFile>> running_node(io::Disk& disk, const std::string& directory);

}  // namespace leat::programs
