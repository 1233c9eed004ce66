// Appends: samples that many producers bring, each body an object that waits for a commit.
//
//   N/append/ID/PRODUCER/SEQUENCE.tar
//
// ID names this life of the dataset, so that a dataset that was removed and made again takes
// nothing of its former one. Each producer counts its bodies from 1. The control store knows up to
// where each was committed; that number moves with the commit, in one transaction, so a body is in
// the dataset once, however often it is sent. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/control_store.h"
#include "datasets/reference.h"
#include "record/types.h"

namespace leat::datasets {

constexpr std::size_t kProducersMax = 5000;
// Metadata of a shard: the name of the dataset that it was made for, so that datasets can be found
// again when all else is lost.
constexpr std::string_view kDatasetAttribute = "x-amz-meta-leat-dataset";
// The name in an object's metadata, which are anybody's words; empty, if there is none.
std::string_view dataset_of(const record::Version& version);

struct AppendState {
  std::string id{};
  std::map<std::string, std::uint64_t, std::less<>> committed{};  // by producer
  control::Revision modified{};                                   // 0: it is not stored yet

  std::uint64_t committed_of(std::string_view producer) const;
};

std::string encode(const AppendState& state);
// Errors: corrupt.
Result<AppendState> decode_appends(std::string_view text);

// As a tag. Errors: bad_request.
Status check_producer(std::string_view producer);

std::string append_prefix(const DatasetName& name, const AppendState& state);
std::string append_key(const DatasetName& name, const AppendState& state, std::string_view producer,
                       std::uint64_t sequence);

struct AppendName {
  std::string id{};
  std::string producer{};
  std::uint64_t sequence = 0;
  bool operator==(const AppendName&) const = default;
};
// Nothing for a key that is none of an append.
std::optional<AppendName> parse_append_key(const DatasetName& name, std::string_view key);

}  // namespace leat::datasets
