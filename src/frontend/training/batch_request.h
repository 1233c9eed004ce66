// The JSON of a batch request. Pure.
#pragma once

#include <string>

#include "datasets/reference.h"
#include "shards/batch.h"
#include "snapshot/types.h"

namespace leat::training {

constexpr std::size_t kItemsMax = 100'000;
constexpr std::size_t kRequestMaxBytes = 32 * kMiB;
// Items, what stands in them, and what stands in that: as many for each item on average.
constexpr std::size_t kValuesMax = 10 * kItemsMax;
// Names in one list of fields: as many as a dataset has.
constexpr std::size_t kFieldsMax = snapshot::kFieldsMax;

enum class OnError : std::uint8_t { fail, skip };
enum class Format : std::uint8_t { frames, tar };

// An item that names a sample of a dataset, and has yet to be looked up in its snapshot.
struct OfDataset {
  std::size_t item = 0;
  std::uint32_t dataset = 0;           // its number in ParsedBatch::datasets
  std::optional<std::uint64_t> row{};  // else the item's name is the sample's key
};

struct ParsedBatch {
  shards::BatchRequest request{};
  std::vector<datasets::Reference> datasets{};
  std::vector<OfDataset> of_datasets{};
  std::uint64_t places_bytes = 0;  // what the places of items take in memory
  OnError on_error = OnError::fail;
  Format format = Format::frames;
};

// Errors: bad_request, with the number of the item.
Result<ParsedBatch> parse_batch(std::string_view text);

}  // namespace leat::training
