// The answers to a batch request: frames, or a tar.
#pragma once

#include <memory>

#include "http/response.h"
#include "shards/batch.h"
#include "training/batch_request.h"

namespace leat::training {

// The answer, whose first lot was read already.
// Lifetime: `keep` is kept as long as the body: what the reader's callbacks refer to.
http::Response batch_answer(std::unique_ptr<shards::BatchReader> reader,
                            std::span<shards::BatchReader::Outcome> first, OnError on_error,
                            Format format, std::shared_ptr<const void> keep);

}  // namespace leat::training
