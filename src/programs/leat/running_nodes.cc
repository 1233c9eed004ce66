#include "leat/running_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "hash/digest.h"
#include "leat/shell_text.h"

namespace leat::programs {
namespace {

constexpr std::size_t kNameBytes = 8;

std::string notes_in(const std::string& state) {
  return state + "/nodes";
}

// One note for each directory, whatever it is called.
std::string note_name(const std::string& directory) {
  const auto digest = hash::Sha256::of(as_bytes(directory));
  return to_hex(Bytes(digest).first(kNameBytes));
}

// The node of a note; nothing if none runs there, or nobody here can tell.
std::optional<RunningNode> node_of(io::Disk& disk, const std::string& note) {
  auto directory = io::read_text(disk, note);
  if (!directory || directory->empty()) return std::nullopt;
  auto file = running_node(disk, *directory);
  if (!file || !*file) return std::nullopt;
  return RunningNode{.directory = std::move(*directory), .file = std::move(**file)};
}

void clear_away_stale(io::Disk& disk, const std::string& folder) {
  const auto names = disk.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = fmt::format("{}/{}", folder, name);
    // Another start may have been quicker; what stays is passed over by who reads it.
    if (!node_of(disk, path)) (void)disk.remove(path);
  }
}

}  // namespace

Result<std::unique_ptr<NodeNote>> NodeNote::leave(io::Disk& disk, const std::string& state,
                                                  const std::string& directory) {
  const std::string folder = notes_in(state);
  LEAT_DO(disk.make_directories(folder));
  clear_away_stale(disk, folder);
  const std::string path = fmt::format("{}/{}", folder, note_name(directory));
  LEAT_DO(io::replace_text(disk, path, directory));
  return std::unique_ptr<NodeNote>(new NodeNote(disk, path));
}

NodeNote::~NodeNote() {
  (void)disk_.remove(path_);  // one that stays is passed over: nobody holds node.json
}

std::vector<RunningNode> running_nodes(io::Disk& disk, const std::string& state) {
  std::vector<RunningNode> nodes;
  if (state.empty()) return nodes;
  const auto names = disk.list(notes_in(state));
  if (!names) return nodes;
  for (const std::string& name : *names) {
    auto node = node_of(disk, fmt::format("{}/{}", notes_in(state), name));
    if (node) nodes.push_back(std::move(*node));
  }
  std::ranges::sort(nodes, {}, &RunningNode::directory);
  return nodes;
}

Result<RunningNode> only_running_node(io::Disk& disk, const std::string& state,
                                      std::string_view command) {
  auto nodes = running_nodes(disk, state);
  if (nodes.size() == 1) return std::move(nodes.front());
  if (nodes.empty()) {
    return fail(Errc::not_found,
                fmt::format("no node of yours runs here: `leat serve DIR` starts one; `{} DIR` "
                            "takes one of another user",
                            command));
  }
  for (const RunningNode& node : nodes)
    fmt::print(stderr, "  {} {}   # {}\n", command, shell_text(node.directory), node.file.url);
  return fail(Errc::bad_request,
              fmt::format("{} nodes run here; say which, by its directory", nodes.size()));
}

}  // namespace leat::programs
