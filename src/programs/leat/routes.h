// Routes: from the words of put, get, cp, mv and sync to jobs of a transfer.
//
// Sources that are folders or prefixes become trees; a target that ends in '/', or that several
// sources share, is a folder.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "leat/transfer_run.h"

namespace leat::programs {

// Flags of all commands that transfer.
inline constexpr std::array kTransferSwitches = {
    Switch{"-r,--recursive", "Everything below a folder or a prefix."},
    Switch{"-n,--dry-run", "Say what would be done, and do nothing."},
    Switch{"-f,--force", "Send everything, also what is there already."},
    Switch{"-c,--checksum", "Compare contents, not times, to know what is there already."},
    Switch{"-v,--verbose", "A line for each file."},
};
inline constexpr std::array kTransferFlags = {
    ValueFlag{"-j,--jobs", "N", "Files under way at once [32]."},
    ValueFlag{"--part-size", "SIZE", "Larger objects travel in parts of this size [8MiB]."},
};
inline constexpr std::array kUploadFlags = {
    kTransferFlags[0],
    kTransferFlags[1],
    ValueFlag{"--content-type", "TYPE", "Instead of the one that the name stands for."},
    ValueFlag{"--meta", "NAME=VALUE", "Metadata to keep with the objects. May be repeated."},
};

// What the flags say about how to transfer, with no source and target yet.
// Errors: bad_request.
Result<transfer::Tree> tree_of(Session& session, TransferRun& run);

struct Route {
  transfer::Location source{};
  transfer::Location target{};
  bool is_shared = false;  // the target is a folder for several sources
};

// Refuses sources that would become the same object or file below a target that they share: the
// last one would win, and a move would lose the others.
// Errors: bad_request. Lifetime: all arguments outlive the task.
rt::Task<void> check_targets(Session& session, const std::vector<transfer::Location>& sources,
                             const transfer::Location& target);

// Adds jobs for one source. Lifetime: all arguments outlive the task.
// Errors: not_found and bad_request, when source and target make no sense; what listing says.
rt::Task<void> add_route(Session& session, TransferRun& run, const Route& route,
                         const transfer::Tree& how);

// stdin to an object, an object to stdout. Errors: as the transfers.
rt::Task<Exit> put_stream(Session& session, s3client::ObjectName target);
rt::Task<Exit> get_streams(Session& session, std::vector<transfer::Location> sources);

}  // namespace leat::programs
