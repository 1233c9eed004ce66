// Routes: from the words of put, get, cp, mv and sync to jobs of a transfer.
//
// Sources that are folders or prefixes become trees; a target that ends in '/', or that several
// sources share, is a folder.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "leat/transfer_run.h"
#include "transfer/upload.h"

namespace leat::programs {

// Flags of all commands that transfer.
inline constexpr std::array kSendingSwitches = {
    Switch{"-n,--dry-run", "Say what would be done, and do nothing."},
    Switch{"-f,--force", "Send everything, also what is there already."},
};
inline constexpr std::array kComparingSwitches = {
    Switch{"-c,--checksum", "Compare contents, not times, to know what is there already."},
    Switch{"-v,--verbose", "A line for each file."},
};
inline constexpr auto kTransferSwitches =
    joined(std::array{Switch{"-r,--recursive", "Everything below a folder or a prefix."}},
           kSendingSwitches, kComparingSwitches);
inline constexpr std::array kFilterFlags = {
    ValueFlag{"--include", "PATTERN", "Of a tree only names like this, such as *.jpg. Repeatable."},
    ValueFlag{"--exclude", "PATTERN", "Of a tree no names like this, such as cache/. Repeatable."},
};
inline constexpr std::array kPartFlags = {
    ValueFlag{"--part-size", "SIZE", "Larger objects travel in parts of this size [8MiB]."},
};
inline constexpr auto kTransferFlags =
    joined(std::array{ValueFlag{"-j,--jobs", "N", "Files under way at once [32]."}}, kPartFlags,
           kFilterFlags);
inline constexpr std::array kContentFlags = {
    ValueFlag{"--content-type", "TYPE", "Instead of the one that the name stands for."},
    ValueFlag{"--meta", "NAME=VALUE", "Metadata to keep with the objects. May be repeated."},
};
inline constexpr auto kUploadFlags = joined(kTransferFlags, kContentFlags);

// --include and --exclude. Errors: bad_request.
Result<transfer::NameFilter> filter_of(const Arguments& arguments);
// For who has no tree to choose from. Errors: bad_request, if there is something to choose by.
Status refuse_filter(const transfer::NameFilter& filter, const std::string& source);

// What the flags say about how to transfer, with no source and target yet.
// Errors: bad_request.
Result<transfer::Tree> tree_of(Session& session, TransferRun& run);

// Refuses sources that would become the same object or file below a target that they share: the
// last one would win, and a move would lose the others.
// Errors: bad_request. Lifetime: all arguments outlive the task.
rt::Task<void> check_targets(Session& session, const std::vector<transfer::Location>& sources,
                             const transfer::Location& target);

// Who works on a transfer to `target`. For a tree of files its folder is made, and they cannot
// leave it: `target` is then below it, and `shown_root` what to call it by.
Result<std::vector<transfer::Tools*>> members_for(Session& session, transfer::Location& target,
                                                  bool is_tree, std::string& shown_root);

// Starts the run, adds jobs for all sources, and waits for its end. With several sources one that
// makes no sense is a failure among others. Lifetime: all arguments outlive the task.
// Errors: not_found and bad_request, when source and target make no sense; what listing says.
rt::Task<Exit> run_routes(Session& session, TransferRun& run,
                          const std::vector<transfer::Location>& sources,
                          const transfer::Location& target, const transfer::Tree& how);

// What comes from stdin.
std::unique_ptr<transfer::ByteSource> standard_input(Session& session);

// stdin to an object, an object to stdout. Errors: as the transfers.
rt::Task<Exit> put_stream(Session& session, s3client::ObjectName target);
rt::Task<Exit> get_streams(Session& session, std::vector<transfer::Location> sources);

}  // namespace leat::programs
