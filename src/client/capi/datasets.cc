// Datasets: one version each, its snapshot in memory.
#include <cstring>
#include <nlohmann/json.hpp>

#include "capi/handles.h"

namespace leat::capi {
namespace {

using nlohmann::json;

std::string info_of(const dataset::Dataset& dataset) {
  const dataset::DatasetFacts& facts = dataset.facts();
  const snapshot::View& view = dataset.view();
  const json info = {{"dataset", facts.name},
                     {"version", facts.version},
                     {"fingerprint", facts.fingerprint},
                     {"samples", view.sample_count()},
                     {"blocks", view.block_count()},
                     {"shards", view.shard_count()},
                     {"bytes", facts.bytes},
                     {"fields", view.fields()}};
  return info.dump(-1, ' ', false, json::error_handler_t::replace);
}

Outcome<void> check(const leat_dataset* dataset) {
  if (dataset != nullptr) return {};
  return trouble(LEAT_BAD_REQUEST, "there is no dataset");
}

std::string_view text_of(const void* bytes, size_t size) {
  return {static_cast<const char*>(bytes), size};
}

}  // namespace
}  // namespace leat::capi

using namespace leat::capi;

extern "C" {

leat_status leat_dataset_open(leat_session* session, const char* reference, leat_dataset** dataset,
                              leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    using Pointer = std::shared_ptr<const leat::dataset::Dataset>;
    LEAT_C_TRY(Pointer found, opened->run<Pointer>([reference](leat::s3client::S3Client& client) {
      return leat::dataset::open_dataset(client, reference);
    }));
    std::string info = info_of(*found);
    *dataset = new leat_dataset{std::move(found), std::move(info)};
    return {};
  });
}

void leat_dataset_free(leat_dataset* dataset) {
  delete dataset;
}

uint64_t leat_dataset_size(const leat_dataset* dataset) {
  return dataset == nullptr ? 0 : dataset->dataset->view().sample_count();
}

const char* leat_dataset_info(const leat_dataset* dataset) {
  return dataset == nullptr ? "{}" : dataset->info.c_str();
}

leat_status leat_dataset_key(const leat_dataset* dataset, uint64_t row, leat_buffer** key,
                             leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_DO(check(dataset));
    const leat::snapshot::View& view = dataset->dataset->view();
    if (row >= view.sample_count()) return trouble(LEAT_NOT_FOUND, "there is no such row");
    LEAT_C_TRY(std::string found, view.key(static_cast<leat::snapshot::Row>(row)));
    *key = new_buffer(std::move(found));
    return {};
  });
}

leat_status leat_dataset_find(const leat_dataset* dataset, const void* key, size_t key_size,
                              uint64_t* row, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_DO(check(dataset));
    LEAT_C_TRY(const auto found, dataset->dataset->view().find(text_of(key, key_size)));
    if (!found) {
      return trouble(LEAT_NOT_FOUND, dataset->dataset->facts().reference() + " has no sample " +
                                         std::string(text_of(key, key_size)));
    }
    *row = *found;
    return {};
  });
}

leat_status leat_dataset_select(const leat_dataset* dataset, const void* prefix, size_t prefix_size,
                                leat_buffer** rows, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_DO(check(dataset));
    std::string bytes;
    const auto take = [&bytes](std::string_view, leat::snapshot::Row row) {
      const std::uint64_t wide = row;
      bytes.append(reinterpret_cast<const char*>(&wide), sizeof(wide));
      return true;
    };
    LEAT_C_DO(dataset->dataset->view().for_each(text_of(prefix, prefix_size), "", take));
    *rows = new_buffer(std::move(bytes));
    return {};
  });
}

}  // extern "C"
