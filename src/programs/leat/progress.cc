#include "leat/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr double kFadeSeconds = 3;
constexpr int kBarWidth = 20;

double fraction_done(const Snapshot& now) {
  if (now.bytes_total > 0) {
    return std::min(1.0,
                    static_cast<double>(now.bytes_done) / static_cast<double>(now.bytes_total));
  }
  const std::uint64_t ended = now.files_done + now.files_failed;
  if (now.files_total == 0) return 0;
  return std::min(1.0, static_cast<double>(ended) / static_cast<double>(now.files_total));
}

std::string bar(double fraction) {
  const int filled = static_cast<int>(std::lround(fraction * kBarWidth));
  std::string text;
  for (int i = 0; i < kBarWidth; ++i)
    text += i < filled ? "█" : "░";
  return text;
}

}  // namespace

Snapshot Snapshot::of(const transfer::Counters& counters) {
  return {.files_total = counters.files_total,
          .bytes_total = counters.bytes_total,
          .files_done = counters.files_done,
          .bytes_done = counters.bytes_done,
          .bytes_moved = counters.bytes_moved,
          .files_skipped = counters.files_skipped,
          .files_failed = counters.files_failed,
          .is_planned = counters.is_planned};
}

void Rates::look(const Snapshot& now, Instant time) {
  const double seconds = std::chrono::duration<double>(time - last_time_).count();
  if (seconds <= 0) return;
  const double bytes = static_cast<double>(now.bytes_moved - last_bytes_) / seconds;
  const double files = static_cast<double>(now.files_done - last_files_) / seconds;
  const double weight = is_first_ ? 1 : 1 - std::exp(-seconds / kFadeSeconds);
  bytes_ += weight * (bytes - bytes_);
  files_ += weight * (files - files_);
  last_time_ = time;
  last_bytes_ = now.bytes_moved;
  last_files_ = now.files_done;
  is_first_ = false;
}

std::optional<Duration> time_left(const Snapshot& now, const Rates& rates) {
  if (!now.is_planned) return std::nullopt;
  const std::uint64_t bytes = now.bytes_total - std::min(now.bytes_total, now.bytes_done);
  const std::uint64_t ended = now.files_done + now.files_failed;
  const std::uint64_t files = now.files_total - std::min(now.files_total, ended);
  // Small files cost by their number, large ones by their size: the slower of both counts.
  double seconds = 0;
  if (bytes > 0) {
    if (rates.bytes_per_second() < 1) return std::nullopt;
    seconds = static_cast<double>(bytes) / rates.bytes_per_second();
  }
  if (files > 0 && rates.files_per_second() > 0 && now.files_done > 16) {
    seconds = std::max(seconds, static_cast<double>(files) / rates.files_per_second());
  }
  if (seconds > 1e6) return std::nullopt;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

std::string duration_text(Duration time) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
  if (seconds >= 3600) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  if (seconds >= 60) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}s", seconds);
}

std::string number_text(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string progress_line(const Snapshot& now, const Rates& rates, bool with_bar) {
  const double fraction = fraction_done(now);
  // Totals that still grow make no percentage.
  std::string line;
  if (now.is_planned) {
    line = with_bar ? fmt::format("{} {:3.0f}%", bar(fraction), fraction * 100)
                    : fmt::format("{:.0f}%", fraction * 100);
  } else {
    line = "looking";
  }
  const std::string more = now.is_planned ? "" : "+";
  line +=
      fmt::format("  {} of {}{}  {}/s", human_bytes(now.bytes_done), human_bytes(now.bytes_total),
                  more, human_bytes(static_cast<std::uint64_t>(rates.bytes_per_second())));
  line += fmt::format("  {} of {}{} files", number_text(now.files_done),
                      number_text(now.files_total), more);
  const auto files_rate = static_cast<std::uint64_t>(rates.files_per_second());
  if (files_rate > 0) line += fmt::format("  {} files/s", number_text(files_rate));
  if (const auto left = time_left(now, rates)) line += "  ETA " + duration_text(*left);
  if (now.files_failed > 0) line += fmt::format("  {} failed", number_text(now.files_failed));
  return line;
}

}  // namespace leat::programs
