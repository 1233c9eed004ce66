#include "sim/connection.h"

#include <algorithm>
#include <utility>

namespace leat::sim {
namespace {

void wake(Connection::Waiters& waiters) {
  for (auto& waiter : std::exchange(waiters, {})) {
    waiter(Status{});
  }
}

void wake_with(Connection::Waiters& waiters, Errc reason) {
  for (auto& waiter : std::exchange(waiters, {})) {
    waiter(fail(reason));
  }
}

}  // namespace

Connection::Connection(Timeline& timeline, LinkTable& links, io::Address connector,
                       io::Address acceptor)
    : timeline_(timeline), links_(links) {
  ends_[0].address = std::move(connector);
  ends_[1].address = std::move(acceptor);
}

bool Connection::is_between(const std::string& a, const std::string& b) const {
  return (host(0) == a && host(1) == b) || (host(0) == b && host(1) == a);
}

Result<std::size_t> Connection::read(Side side, MutableBytes target) {
  End& end = ends_[side];
  if (end.was_reset) return fail(Errc::closed, "connection was reset");
  if (end.unread.empty() && end.peer_ended) return std::size_t{0};
  if (end.unread.empty()) return fail(Errc::would_block);
  if (target.empty()) return std::size_t{0};
  const std::size_t count = links_.draw_count(std::min(target.size(), end.unread.size()));
  const auto stop = end.unread.begin() + static_cast<std::ptrdiff_t>(count);
  std::copy(end.unread.begin(), stop, target.begin());
  end.unread.erase(end.unread.begin(), stop);
  end.held_bytes -= count;
  wake(ends_[other(side)].writers);
  return count;
}

Result<std::size_t> Connection::write(Side side, std::span<const Bytes> pieces) {
  if (ends_[side].was_reset) return fail(Errc::closed, "connection was reset");
  if (ends_[side].ended) return fail(Errc::closed, "written after finish_writing");
  End& peer = ends_[other(side)];
  const std::size_t capacity = links_.options.buffer_bytes;
  if (peer.held_bytes >= capacity) return fail(Errc::would_block);
  std::size_t offered = 0;
  for (const Bytes piece : pieces) {
    offered += piece.size();
  }
  if (offered == 0) return std::size_t{0};
  const std::size_t count = links_.draw_count(std::min(offered, capacity - peer.held_bytes));

  std::vector<std::byte> bytes;
  bytes.reserve(count);
  for (const Bytes piece : pieces) {
    const Bytes part = piece.first(std::min(piece.size(), count - bytes.size()));
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  peer.held_bytes += count;
  send(other(side), Kind::data, std::move(bytes));
  return count;
}

bool Connection::is_ready(Side side, io::Interest interest) const {
  const End& end = ends_[side];
  if (interest == io::Interest::read) return !end.unread.empty() || end.peer_ended;
  return end.ended || ends_[other(side)].held_bytes < links_.options.buffer_bytes;
}

void Connection::wait(Side side, io::Interest interest, rt::Resume<void> resume) {
  End& end = ends_[side];
  if (end.interrupted) return resume(fail(*end.interrupted));
  if (end.was_reset) return resume(fail(Errc::closed));
  if (is_ready(side, interest)) return resume(Status{});
  (interest == io::Interest::read ? end.readers : end.writers).push_back(std::move(resume));
}

void Connection::interrupt(Side side, Errc reason) {
  End& end = ends_[side];
  end.interrupted = reason;
  wake_with(end.readers, reason);
  wake_with(end.writers, reason);
}

void Connection::finish_writing(Side side) {
  End& end = ends_[side];
  if (end.ended || end.was_reset) return;
  end.ended = true;
  send(other(side), Kind::end, {});
}

void Connection::close(Side side) {
  End& end = ends_[side];
  end.gone = true;
  if (end.was_reset) return;
  if (end.unread.empty()) {
    finish_writing(side);
  } else {
    abort(side);
  }
}

void Connection::abort(Side side) {
  if (ends_[side].was_reset) return;
  mark_reset(side);
  send(other(side), Kind::reset, {});
}

void Connection::reset_both() {
  mark_reset(0);
  mark_reset(1);
}

void Connection::mark_reset(Side side) {
  End& end = ends_[side];
  end.was_reset = true;
  end.coming.clear();
  end.unread.clear();
  end.held_bytes = 0;
  wake_with(end.readers, Errc::closed);
  wake_with(end.writers, Errc::closed);
}

void Connection::send(Side to, Kind kind, std::vector<std::byte> bytes) {
  End& end = ends_[to];
  if (end.was_reset) return;
  end.last_due = std::max(end.last_due, timeline_.now() + links_.draw_latency());
  end.coming.push_back(Segment{kind, end.last_due, std::move(bytes)});
  timeline_.at(end.last_due, [self = shared_from_this(), to] { self->deliver_due(to); });
}

void Connection::deliver_due(Side to) {
  End& end = ends_[to];
  if (links_.is_cut(host(other(to)), host(to))) return;
  while (!end.coming.empty() && end.coming.front().due <= timeline_.now()) {
    Segment segment = std::move(end.coming.front());
    end.coming.pop_front();
    receive(to, std::move(segment));
  }
}

void Connection::receive(Side side, Segment segment) {
  End& end = ends_[side];
  timeline_.note("arrive", end.address.host, end.address.port, segment.bytes.size());
  switch (segment.kind) {
    case Kind::data:
      if (end.gone) return abort(side);
      end.unread.insert(end.unread.end(), segment.bytes.begin(), segment.bytes.end());
      wake(end.readers);
      break;
    case Kind::end:
      end.peer_ended = true;
      wake(end.readers);
      break;
    case Kind::reset: mark_reset(side); break;
  }
}

void Connection::release() {
  for (const Side to : {Side{0}, Side{1}}) {
    if (ends_[to].coming.empty()) continue;
    const Instant when = timeline_.now() + links_.draw_latency();
    timeline_.at(when, [self = shared_from_this(), to] { self->deliver_due(to); });
  }
}

void Connection::take_waiters(Waiters& into) {
  for (End& end : ends_) {
    std::ranges::move(std::exchange(end.readers, {}), std::back_inserter(into));
    std::ranges::move(std::exchange(end.writers, {}), std::back_inserter(into));
  }
}

}  // namespace leat::sim
