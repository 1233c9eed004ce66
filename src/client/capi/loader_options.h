// The options of loaders and of reads by row, from JSON to what a feed takes. Pure.
#pragma once

#include <memory>
#include <span>

#include "feed/feed.h"

namespace leat::capi {

using DatasetPointers = std::vector<std::shared_ptr<const dataset::Dataset>>;

struct LoaderOptions {
  feed::FeedOptions feed{};
  std::optional<Duration> patience{};  // else the session's
  std::size_t threads = 0;             // 0: by the number of cores
};

// Errors: bad_request.
Result<LoaderOptions> loader_options(const DatasetPointers& datasets, const char* text);

// "fields", "keys", "decode" and "seed" of a read by row.
struct RowsOptions {
  feed::Source source{};
  feed::Filler::Options fill{};
};
Result<RowsOptions> rows_options(std::shared_ptr<const dataset::Dataset> dataset, const char* text);

}  // namespace leat::capi
