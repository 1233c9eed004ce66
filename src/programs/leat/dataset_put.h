// What `leat put FOLDER BUCKET/NAME`, `leat dataset put` and `leat dataset append` share: from
// words and flags to an ingest, what is shown of it, and the exit code.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ingest/ingest.h"
#include "leat/arguments.h"
#include "leat/client_session.h"

namespace leat::programs {

inline constexpr std::array kIngestSwitches = {
    Switch{"--no-mix", "Keep the order of the source, instead of a seeded shuffle."},
    Switch{"--verify", "Read every shard back and compare."},
    Switch{"--hidden", "Also files and folders whose names begin with a dot."},
};
inline constexpr std::array kIngestFlags = {
    ValueFlag{"--layout", "samples|imagefolder",
              "imagefolder: the folder at the top is the class, field cls [samples]."},
    ValueFlag{"--shard-size", "SIZE", "How large shards become [256MiB]."},
    ValueFlag{"--seed", "N", "Of the shuffle [0]."},
    ValueFlag{"-m,--message", "TEXT", "For the log of versions."},
    ValueFlag{"--fields", "A,B", "Only these fields of samples, such as jpg,cls [all]."},
    ValueFlag{"--shard-name", "PATTERN", "How shards are called [{number}-{id}.tar]."},
};

// Errors: bad_request, for flags that make no sense; those of the ingest.
// Requires: `target` is BUCKET/NAME.
rt::Task<Exit> run_ingest(Session& session, std::vector<std::string> sources, std::string target,
                          ingest::Purpose purpose);

// "BUCKET/NAME" of a word, with "leat://" or "s3://" before it or not.
// Errors: bad_request.
Result<std::string> dataset_name(std::string_view word);

}  // namespace leat::programs
