// The calls of training jobs, one function each. Errors become JSON answers.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "shards/batch.h"
#include "training/training.h"

namespace leat::training {

constexpr std::string_view kBatch = "/_/v1/batch";
constexpr std::string_view kDatasets = "/_/v1/datasets";
constexpr std::string_view kLocal = "/_/v1/local";

using Answer = rt::Task<http::Response>;

Answer read_batch(const Parts& parts, http::Exchange& exchange);
Answer list_datasets(const Parts& parts, http::Exchange& exchange);
Answer read_dataset(const Parts& parts, http::Exchange& exchange);
Answer write_dataset(const Parts& parts, http::Exchange& exchange);
Answer open_local(const Parts& parts, http::Exchange& exchange);

class Request;
// Of requests that one of the above took apart.
Answer read_virtual_shard(Request& request, const datasets::Opened& opened);
Answer append_samples(Request& request);
Answer adopt_objects(Request& request);
Answer vacuum_dataset(Request& request);
Answer lint_dataset(Request& request, const datasets::Opened& opened);
Answer rebuild_datasets(Request& request);

// The request as S3's side sees it: who asks, and what it may.
std::shared_ptr<s3::Call> call_of(const Parts& parts, http::Exchange& exchange);
// Whether the caller may read an object. `version`: null when it is not there.
// Errors: denied; not_found, of what is not there, to who may know that.
Status admit(const s3::Call& call, const shards::ObjectName& name, const record::Version* version);
// The object, if the caller may read it and it is still the one that is meant.
// Errors: those of admit() and of the store; precondition_failed.
rt::Task<store::Found> find_readable(const s3::Call& call, shards::ObjectName name);
// The body, with its digests checked. Errors: in this API's words.
rt::Task<std::string> read_body(s3::Call& call, std::size_t max_bytes);

}  // namespace leat::training
