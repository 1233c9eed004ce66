// Local files that are read when a test lets them be, to see what is queued and what is not.
//
// Lifetime: the shards and the gate outlive the files.
#pragma once

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "local/local_shards.h"
#include "record/frame.h"
#include "rt/monitor.h"

namespace leat::feed {

// Counts files that were opened and read, and holds readers back until it is told not to.
struct Gate {
  struct Counts {
    int opened = 0;
    int read = 0;
    bool is_open = false;
  };

  void wait_for(int opened, int read) const {
    counts.wait([&](const Counts& now) { return now.opened >= opened && now.read >= read; },
                [](Counts&) {});
  }
  Counts now() const {
    Counts found;
    counts.with([&](const Counts& now) {
      found = now;
      return false;
    });
    return found;
  }

  rt::Monitor<Counts> counts;
};

// A file that is read when the gate lets it be.
class GatedFile final : public io::File {
 public:
  GatedFile(std::string bytes, Gate& gate) : bytes_(std::move(bytes)), gate_(gate) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes target) const override {
    if (!is_read_.exchange(true))
      gate_.counts.with([](Gate::Counts& now) { return ++now.read > 0; });
    gate_.counts.wait([](const Gate::Counts& now) { return now.is_open; }, [](Gate::Counts&) {});
    std::memcpy(target.data(), bytes_.data() + offset, target.size());
    return target.size();
  }
  Result<std::size_t> try_read_at(std::uint64_t, MutableBytes) const override { return refuse(); }
  Result<std::size_t> write_at(std::uint64_t, Bytes) override { return refuse(); }
  Status sync_data() override { return refuse(); }
  Status truncate(std::uint64_t) override { return refuse(); }
  Result<io::FileInfo> info() const override { return refuse(); }
  Status lock() override { return refuse(); }
  bool is_cached(std::uint64_t, std::uint64_t) const override { return false; }
  Result<std::unique_ptr<io::Mapping>> map_locked(std::uint64_t) const override { return refuse(); }
  int descriptor() const override { return -1; }

 private:
  static std::unexpected<Error> refuse() { return fail(Errc::not_implemented); }

  std::string bytes_;
  Gate& gate_;
  mutable std::atomic<bool> is_read_{false};
};

class GatedFiles final : public local::LocalObjects {
 public:
  GatedFiles(const std::vector<std::string>& shards, Gate& gate) : shards_(shards), gate_(gate) {}

  rt::Task<local::LocalObjectPtr> open(s3client::ObjectName name, std::string) override {
    gate_.counts.with([](Gate::Counts& now) { return ++now.opened > 0; });
    const std::string& bytes = shards_[std::stoul(name.key)];
    std::vector<local::LocalObject::Piece> pieces;
    pieces.push_back({.file = std::make_unique<GatedFile>(bytes, gate_),
                      .size_bytes = bytes.size(),
                      .sums = record::sum_blocks({as_bytes(bytes)}).sums});
    co_return std::make_shared<const local::LocalObject>(std::move(pieces));
  }
  bool is_within_reach() const override { return true; }
  bool can_keep(std::uint64_t, std::uint64_t) const override { return true; }

 private:
  const std::vector<std::string>& shards_;
  Gate& gate_;
};

}  // namespace leat::feed
