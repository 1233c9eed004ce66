// Connection: two ends and the bytes between them, with the manners of TCP.
//
// What one end writes arrives at the other after a latency, in order and whole. A cut link holds
// bytes and the news of an end alike; they go on when it is mended. A reset ends both directions at
// once and throws away what was not read.
//
// Shard: the world's only one. Lifetime: the timeline and the links outlive it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "io/stream.h"
#include "sim/link_table.h"
#include "sim/timeline.h"

namespace leat::sim {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Side = std::size_t;  // 0 connected, 1 accepted
  using Waiters = std::vector<rt::Resume<void>>;

  Connection(Timeline& timeline, LinkTable& links, io::Address connector, io::Address acceptor);

  static Side other(Side side) { return 1 - side; }
  const io::Address& address(Side side) const { return ends_[side].address; }
  const std::string& host(Side side) const { return ends_[side].address.host; }
  bool is_between(const std::string& a, const std::string& b) const;

  // The calls of io::Stream.
  Result<std::size_t> read(Side side, MutableBytes target);
  Result<std::size_t> write(Side side, std::span<const Bytes> pieces);
  void wait(Side side, io::Interest interest, rt::Resume<void> resume);
  void interrupt(Side side, Errc reason);
  void finish_writing(Side side);

  // The stream of this side is destroyed: the peer sees an end, or a reset if bytes were left
  // unread.
  void close(Side side);
  bool is_open(Side side) const { return !ends_[side].gone; }
  bool is_abandoned() const { return ends_[0].gone && ends_[1].gone; }

  // This side dies: it is closed at once, the peer hears of it by a reset.
  void abort(Side side);
  void reset_both();

  // After a link was mended: what was held goes on its way again.
  void release();

  // Hands over the suspended tasks, for a world that ends.
  void take_waiters(Waiters& into);

 private:
  enum class Kind : std::uint8_t { data, end, reset };
  struct Segment {
    Kind kind;
    Instant due;
    std::vector<std::byte> bytes;
  };
  struct End {
    io::Address address;
    std::deque<Segment> coming;
    Instant last_due{};
    std::deque<std::byte> unread;
    std::size_t held_bytes = 0;  // on the way to this end, and unread
    bool peer_ended = false;
    bool ended = false;
    bool was_reset = false;
    bool gone = false;
    std::optional<Errc> interrupted;
    Waiters readers;
    Waiters writers;
  };

  void send(Side to, Kind kind, std::vector<std::byte> bytes);
  void deliver_due(Side to);
  void receive(Side side, Segment segment);
  void mark_reset(Side side);
  bool is_ready(Side side, io::Interest interest) const;

  Timeline& timeline_;
  LinkTable& links_;
  std::array<End, 2> ends_;
};

}  // namespace leat::sim
