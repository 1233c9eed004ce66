// Pipeline: the inside of a Feed: what is planned, fetched, filled and ready, and who does what
// next.
//
// One lock guards the line of batches and the cells that are wanted; it is taken a few times for a
// batch and never for a sample. Work is done by threads of a pool and tasks on lanes; each, when it
// is done, looks under the lock for what can be started next (pump()).
//
// Progress: the first batch of the line gets the memory it needs even above the bound when nobody
// else could give any back, so that a bound that is too small makes a feed slow and never stuck.
#pragma once

#include <deque>

#include "feed/budget.h"
#include "feed/depth.h"
#include "feed/feed.h"
#include "feed/stages.h"
#include "rt/blocking_pool.h"

namespace leat::feed {

class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  Pipeline(std::vector<Lane> lanes, io::Clock& clock, FeedOptions options, Reading reading);

  std::expected<BatchHandle, Failure> next(std::optional<Duration> limit);
  void cancel();
  // Ends threads and tasks; returns when none is left.
  void close();
  void give_back(std::unique_ptr<Batch> batch);

  std::string report() const;

 private:
  struct State {
    std::deque<std::unique_ptr<Batch>>
        line{};  // planned, filled or ready, in the order of the plan
    std::deque<std::shared_ptr<Cell>> wanted{};
    // Batches that can be planned again, and memory that can be filled again. They are apart,
    // because many more batches are planned than are filled at a time.
    std::vector<std::unique_ptr<Batch>> free{};
    std::vector<Columns> free_columns{};
    std::vector<decode::Scratch> scratches{};
    std::optional<Failure> failure{};
    std::uint64_t planned_samples = 0;  // in the line
    std::size_t in_flight = 0;
    std::size_t splitting = 0;
    std::size_t filling = 0;  // batches that are filled or ready
    Depth depth{0};
    std::size_t next_lane = 0;
    bool is_planning = false;
    bool is_planned = false;  // to the end
    bool is_closed = false;
    bool is_cancelled = false;
  };

  // Under the lock.
  void pump(State& state);
  void start_planning(State& state);
  void start_fetches(State& state);
  void start_fetch(State& state, std::shared_ptr<Cell> cell);
  void start_fills(State& state);
  void submit(rt::BlockingPool::Job job);
  bool may_plan(const State& state) const;
  void line_up(State& state, std::unique_ptr<Batch> batch,
               std::vector<std::shared_ptr<Cell>>& fresh);

  // On threads of the pool.
  void plan();
  void split(const std::shared_ptr<Cell>& cell);
  Status read_local(Cell& cell);
  // Tells of samples whose bytes could not be had.
  void note_lost(Batch& batch);
  void fill(Batch& batch);
  void fill_part(Batch& batch, std::size_t first, std::size_t last);
  void finish(Batch& batch);

  // On a lane.
  rt::Task<void> fetch(std::shared_ptr<Cell> cell, Lane& lane);
  // True: a thread of the pool can read the cell from files of this machine.
  rt::Task<bool> open_local(Cell& cell, Lane& lane);
  rt::Task<void> fetch_bytes(Cell& cell, Lane& lane);
  rt::Task<void> fetch_block(Cell& cell, Lane& lane);
  rt::Task<void> fetch_rows(Cell& cell, Lane& lane);

  void settle(const std::shared_ptr<Cell>& cell, Status status);
  // What becomes of a sample that cannot be had.
  void note_fault(Batch& batch, std::size_t sample, const Error& error, bool is_decode = false);
  std::expected<BatchHandle, Failure> take_first(State& state);
  void start_threads();
  // Their memory goes to who needs some next.
  void recycle(Columns columns);

  std::vector<Lane> lanes_;
  io::Clock& clock_;
  const FeedOptions options_;
  const Reading reading_;
  const Budget budget_;
  const std::size_t threads_;
  PieceStore store_;
  Filler filler_;
  Planner planner_;  // of who plans
  std::atomic<bool> is_cancelled_{false};
  mutable Stages stages_;
  std::optional<Instant> began_{};
  std::optional<Instant> left_{};  // when next() returned last
  bool goes_on_waiting_ = false;   // it returned without a batch, at its limit
  std::unique_ptr<rt::BlockingPool> pool_;
  rt::Monitor<State> state_;
};

}  // namespace leat::feed
