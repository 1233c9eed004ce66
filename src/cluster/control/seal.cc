#include "control/seal.h"

#include <array>

#include "hash/crc32c.h"

namespace leat::control {
namespace {

// Checksums numbers as eight bytes, lowest first, and strings behind their length.
class Sealer {
 public:
  explicit Sealer(std::string_view table) { add(table); }

  Sealer& add(std::int64_t number) {
    std::array<std::byte, 8> bytes{};
    auto rest = static_cast<std::uint64_t>(number);
    for (std::byte& one : bytes) {
      one = static_cast<std::byte>(rest & 0xff);
      rest >>= 8;
    }
    crc_ = hash::crc32c(bytes, crc_);
    return *this;
  }

  Sealer& add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    crc_ = hash::crc32c(as_bytes(text), crc_);
    return *this;
  }

  Sealer& add(const KeyValue& entry) {
    return add(entry.key)
        .add(entry.value)
        .add(entry.created.value())
        .add(entry.modified.value())
        .add(entry.version)
        .add(entry.lease.value());
  }

  std::int64_t seal() const { return crc_; }

 private:
  std::uint32_t crc_ = 0;
};

}  // namespace

std::int64_t seal_of(const State& state) {
  return Sealer("state")
      .add(state.revision.value())
      .add(state.compacted.value())
      .add(state.leases)
      .add(state.rows)
      .add(state.sum)
      .add(state.history)
      .seal();
}

std::int64_t seal_of(const KeyValue& entry) {
  return Sealer("kv").add(entry).seal();
}

std::int64_t seal_of(const Change& change) {
  return Sealer("history")
      .add(change.event.entry)
      .add(change.event.erased ? 1 : 0)
      .add(change.place)
      .add(change.left)
      .seal();
}

std::int64_t seal_of(LeaseId lease, std::int64_t ttl_s) {
  return Sealer("lease").add(lease.value()).add(ttl_s).seal();
}

}  // namespace leat::control
