#include "leat/progress_display.h"

#include <fmt/format.h>

#include "config/parse.h"

namespace leat::programs {
namespace {

constexpr Duration kPlainPeriod = std::chrono::seconds(10);

// LEAT_PROGRESS_FPS, as restic has it; 8 a second without.
Duration period_of(const Invocation& invocation) {
  const auto found = invocation.environment.find("LEAT_PROGRESS_FPS");
  std::int64_t per_second = 8;
  if (found != invocation.environment.end()) {
    const auto given = config::parse_integer(found->second);
    if (given && *given > 0 && *given <= 60) per_second = *given;
  }
  return std::chrono::nanoseconds(std::chrono::seconds(1)) / per_second;
}

}  // namespace

ProgressDisplay::ProgressDisplay(Session& session, transfer::Counters& counters)
    : clock_(session.client().clock()),
      counters_(counters),
      is_terminal_(session.invocation.stderr_is_terminal && session.invocation.can_redraw()),
      period_(is_terminal_ ? period_of(session.invocation) : kPlainPeriod),
      rates_(clock_.now()) {}

rt::Task<void> ProgressDisplay::run(std::shared_ptr<ProgressDisplay> self) {
  while (true) {
    LEAT_CO_DO(co_await self->clock_.sleep_until(self->clock_.now() + self->period_));
    if (self->is_over_) co_return Status{};
    self->draw();
  }
}

void ProgressDisplay::clear() {
  if (!is_drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  is_drawn_ = false;
}

void ProgressDisplay::end() {
  clear();
  is_over_ = true;
}

void ProgressDisplay::draw() {
  const Snapshot now = Snapshot::of(counters_);
  rates_.look(now, clock_.now());
  const std::string line = progress_line(now, rates_, is_terminal_);
  if (is_terminal_) {
    fmt::print(stderr, "\r\x1b[K{}", line);
    is_drawn_ = true;
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

}  // namespace leat::programs
