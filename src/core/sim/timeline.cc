#include "sim/timeline.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace leat::sim {

void Timeline::add(Instant when, Entry entry) {
  entries_.emplace(Key(std::max(when, now_), added_++), std::move(entry));
}

void Timeline::at(Instant when, Event event) {
  add(when, std::move(event));
}

rt::Task<void> Timeline::sleep_until(Instant when) {
  return rt::suspend<void>(
      [this, when](rt::Resume<void> resume) { add(when, Entry(std::move(resume))); });
}

std::optional<Instant> Timeline::next_event() const {
  if (entries_.empty()) return std::nullopt;
  return entries_.begin()->first.first;
}

void Timeline::fire_next() {
  LEAT_CHECK(!entries_.empty());
  auto node = entries_.extract(entries_.begin());
  now_ = node.key().first;
  if (auto* sleeper = std::get_if<rt::Resume<void>>(&node.mapped())) {
    note("wake", "", node.key().second);
    (*sleeper)(Status{});
  } else {
    std::get<Event>(node.mapped())();
  }
}

void Timeline::advance_to(Instant when) {
  LEAT_CHECK(entries_.empty() || entries_.begin()->first.first >= when);
  now_ = std::max(now_, when);
}

void Timeline::cancel_sleepers() {
  std::vector<rt::Resume<void>> sleepers;
  for (auto item = entries_.begin(); item != entries_.end();) {
    auto* sleeper = std::get_if<rt::Resume<void>>(&item->second);
    if (sleeper != nullptr) sleepers.push_back(std::move(*sleeper));
    item = sleeper != nullptr ? entries_.erase(item) : std::next(item);
  }
  for (auto& sleeper : sleepers) {
    sleeper(fail(Errc::cancelled));
  }
}

// A destroyed task may end streams, and these add events: go on until nothing is added any more.
void Timeline::clear() {
  while (!entries_.empty()) {
    const std::map<Key, Entry> dropped = std::exchange(entries_, {});
  }
}

}  // namespace leat::sim
