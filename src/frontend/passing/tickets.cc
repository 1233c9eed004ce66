#include "passing/tickets.h"

namespace leat::passing {

void Tickets::drop_old(Instant now) {
  while (!entries_.empty() && entries_.front().end <= now) {
    by_ticket_.erase(entries_.front().ticket);
    entries_.pop_front();
  }
}

std::optional<handover::Ticket> Tickets::issue(Instant now, Opener opener) {
  drop_old(now);
  if (entries_.size() >= options_.tickets_max) return std::nullopt;
  handover::Ticket ticket{};
  rng_.fill(ticket);
  entries_.push_back({.ticket = ticket, .end = now + options_.life, .opener = std::move(opener)});
  by_ticket_.insert_or_assign(ticket, std::prev(entries_.end()));
  return ticket;
}

std::optional<Opener> Tickets::redeem(Instant now, const handover::Ticket& ticket) {
  drop_old(now);
  const auto found = by_ticket_.find(ticket);
  if (found == by_ticket_.end()) return std::nullopt;
  Opener opener = std::move(found->second->opener);
  entries_.erase(found->second);
  by_ticket_.erase(found);
  return opener;
}

}  // namespace leat::passing
