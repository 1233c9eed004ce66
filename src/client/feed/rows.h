// read_rows(): the samples of a cell by batch requests.
//
// Shard: the client's.
#pragma once

#include <atomic>

#include "feed/cell.h"
#include "s3client/s3client.h"

namespace leat::feed {

struct RowsReading {
  s3client::S3Client& client;
  io::Clock& clock;
  Duration patience = std::chrono::seconds(30);
  const std::atomic<bool>* is_cancelled = nullptr;
};

// Fills the memory of a cell of rows. What the service cannot give is in cell.lost afterwards.
// Requires: the cell has its piece. Lifetime: the cell and what `reading` refers to outlive the
// task. Errors: what keeps all of them from coming.
rt::Task<void> read_rows(Cell& cell, RowsReading reading);

}  // namespace leat::feed
