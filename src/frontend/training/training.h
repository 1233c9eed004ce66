// TrainingApi: what training jobs ask of Leat beyond S3, under /_/v1/, with the access keys that
// they have for S3: batches, datasets, and tickets for files on the same machine.
//
// Shard: one of each a shard. Lifetime: what it is given outlives it; it outlives the dispatcher's
// use.
#pragma once

#include <memory>
#include <vector>

#include "datasets/datasets.h"
#include "http/dispatcher.h"
#include "passing/desk.h"
#include "s3/call.h"

namespace leat::training {

struct Parts {
  s3::Tools& s3;
  datasets::Datasets& datasets;
  passing::Desk* desk = nullptr;  // passes files to local clients; null: turned off
};

class TrainingRouter final : public http::Router {
 public:
  Result<std::optional<http::Operation>> route(const http1::RequestHead& head) const override;
  std::string_view allowed(const http1::RequestHead& head) const override;
};

class TrainingApi {
 public:
  explicit TrainingApi(const Parts& parts);
  ~TrainingApi();

  void install(http::Dispatcher& dispatcher);

 private:
  class Handler;

  Parts parts_;
  TrainingRouter router_;
  std::vector<std::unique_ptr<Handler>> handlers_;
};

}  // namespace leat::training
