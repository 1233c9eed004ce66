#include "feed/place.h"

#include <nlohmann/json.hpp>

namespace leat::feed {

std::string place_of(const dataset::Dataset& dataset, snapshot::Row row) {
  nlohmann::json place = {{"dataset", dataset.facts().reference()}, {"row", row}};
  if (const auto key = dataset.view().key(row)) place["sample"] = *key;
  if (const auto at = dataset.view().sample(row)) {
    place["offset"] = at->start;
    if (const auto shard = dataset.view().shard(at->shard)) {
      place["shard"] = shard->bucket + "/" + shard->key;
    }
  }
  return place.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace leat::feed
