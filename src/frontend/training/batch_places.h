// Samples of datasets in a batch, turned into places of shards.
#pragma once

#include "datasets/snapshot_reader.h"
#include "s3/call.h"
#include "training/batch_request.h"

namespace leat::training {

// Looks up the items of one dataset, in the order of the snapshot, so that each page of it and each
// recipe is read once. What cannot be had becomes an item that failed.
// Lifetime: all outlive the task. Errors: bad_request, when the places take too much memory.
rt::Task<void> place_items(ParsedBatch& batch, std::uint32_t dataset,
                           datasets::SnapshotReader& reader, const s3::Call& call);

}  // namespace leat::training
