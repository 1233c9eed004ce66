// Running nodes: those of this user on this machine, for commands that are not told a directory.
//
// `leat serve` leaves a note with its first data directory in a folder of its user's, and takes it
// away when it stops. A note that was left by a process that died says nothing by itself: whether a
// node runs on the directory is known from its node.json (node_file.h). Each start clears away
// notes of nodes that do not run, so that they do not pile up.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/disk.h"
#include "leat/node_file.h"

namespace leat::programs {

// A note that is there as long as this. `state` is the folder of table.h.
class NodeNote {
 public:
  // Requires: the node's node.json is published, and `directory` is absolute. Lifetime: the disk
  // outlives the note. Errors: denied, no_space, io.
  static Result<std::unique_ptr<NodeNote>> leave(io::Disk& disk, const std::string& state,
                                                 const std::string& directory);
  ~NodeNote();
  NodeNote(const NodeNote&) = delete;
  NodeNote& operator=(const NodeNote&) = delete;

 private:
  NodeNote(io::Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}

  io::Disk& disk_;
  std::string path_;
};

struct RunningNode {
  std::string directory{};
  NodeFile file{};
};

// By their directories; none without a state folder. What cannot be read is passed over.
std::vector<RunningNode> running_nodes(io::Disk& disk, const std::string& state);

// The only one. Errors: not_found, when none runs; bad_request, when several do, which are then
// listed on stderr. `command` is what to type with a directory behind it: "leat env".
Result<RunningNode> only_running_node(io::Disk& disk, const std::string& state,
                                      std::string_view command);

}  // namespace leat::programs
