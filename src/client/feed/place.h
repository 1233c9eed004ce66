// Where a sample is, for errors: {"dataset": …, "row": …, "sample": …, "shard": …, "offset": …} as
// JSON, as far as it is known. Pure.
#pragma once

#include <string>

#include "dataset/dataset.h"

namespace leat::feed {

std::string place_of(const dataset::Dataset& dataset, snapshot::Row row);

}  // namespace leat::feed
