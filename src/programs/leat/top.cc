// top: what a node does right now, from its /metrics.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "config/parse.h"
#include "io/clock.h"
#include "leat/arguments.h"
#include "leat/json_text.h"
#include "leat/node_client.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "rt/runtime.h"

namespace leat::programs {
namespace {

constexpr std::array kSwitches = {
    Switch{"--json", "A line of JSON for each look."},
};
constexpr std::array kFlags = {
    ValueFlag{"-i,--interval", "TIME", "Between two looks [1s]."},
    ValueFlag{"-n,--count", "N", "So many looks; without it until ^C."},
};

constexpr std::string_view kEpilogue =
    "  leat top\n"
    "  leat top --count 1 --json    one look, for scripts\n"
    "\n"
    "The node is the one at --listen or --endpoint, else the one that LEAT_ENDPOINT, a profile or\n"
    "`leat env` names. Rates are those of the last interval.";

constexpr std::string_view kCount = "leat_http_request_duration_seconds_count{operation=\"";
constexpr std::string_view kSum = "leat_http_request_duration_seconds_sum{operation=\"";

// A metric with its labels, and its value.
using Metrics = std::map<std::string, double, std::less<>>;

Metrics parse_metrics(std::string_view text) {
  Metrics metrics;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t space = line.rfind(' ');
    if (line.starts_with('#') || space == line.npos) continue;
    double value = 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
    metrics.emplace(line.substr(0, space), value);
  }
  return metrics;
}

double value_of(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : found->second;
}

struct Look {
  Metrics before{};
  Metrics now{};
  double seconds = 1;

  double rate(std::string_view name) const {
    return std::max(0.0, value_of(now, name) - value_of(before, name)) / seconds;
  }
};

struct Operation {
  std::string name{};
  double per_second = 0;
  double mean_ms = 0;
};

// Those that were asked for in the interval, the busiest first.
std::vector<Operation> operations_of(const Look& look) {
  std::vector<Operation> all;
  for (const auto& [name, value] : look.now) {
    if (!name.starts_with(kCount)) continue;
    const std::string operation = name.substr(kCount.size(), name.rfind('"') - kCount.size());
    const double per_second = look.rate(name);
    if (per_second <= 0 || operation == "metrics") continue;
    const double busy = look.rate(fmt::format("{}{}\"}}", kSum, operation));
    all.push_back({operation, per_second, busy / per_second * 1000});
  }
  std::ranges::sort(all, std::greater<>(), &Operation::per_second);
  return all;
}

void show(const Look& look, const std::string& address, bool as_json, bool redraws) {
  const auto operations = operations_of(look);
  const double sent = look.rate("leat_http_sent_bytes_total");
  const double received = look.rate("leat_http_received_bytes_total");
  const double connections = value_of(look.now, "leat_http_connections");
  double requests = 0;
  for (const Operation& one : operations)
    requests += one.per_second;
  if (as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Operation& one : operations) {
      list.push_back(
          {{"operation", one.name}, {"per_s", one.per_second}, {"mean_ms", one.mean_ms}});
    }
    fmt::print("{}\n", json_text({{"type", "status"},
                                  {"requests_per_s", requests},
                                  {"sent_bytes_per_s", sent},
                                  {"received_bytes_per_s", received},
                                  {"connections", connections},
                                  {"operations", list}}));
    std::fflush(stdout);
    return;
  }
  if (redraws) fmt::print("\x1b[H\x1b[2J");
  fmt::print("{}   {:.0f} requests/s   {}/s out   {}/s in   {:.0f} connections\n", address,
             requests, human_bytes(static_cast<std::uint64_t>(sent)),
             human_bytes(static_cast<std::uint64_t>(received)), connections);
  for (const Operation& one : operations)
    fmt::print("  {:<24}{:>10.1f}/s{:>12.2f} ms\n", one.name, one.per_second, one.mean_ms);
  std::fflush(stdout);
}

Result<Metrics> look_at(const NodeAddress& node) {
  LEAT_TRY(const std::string text, ask_node(node, {.method = "GET", .target = "/metrics"}));
  Metrics metrics = parse_metrics(text);
  if (metrics.contains("leat_http_connections")) return metrics;
  return fail(Errc::not_implemented, node.endpoint.url + " is no node of Leat");
}

Status watch(const NodeAddress& node, const Invocation& invocation, const Arguments& arguments,
             rt::Runtime& runtime) {
  const std::string given = arguments.value("--interval");
  LEAT_TRY(const Duration interval, config::parse_duration(given.empty() ? "1s" : given));
  const std::string count = arguments.value("--count");
  LEAT_TRY(const std::int64_t looks, config::parse_integer(count.empty() ? "0" : count));
  io::RealClock clock;
  Look look;
  LEAT_TRY(look.now, look_at(node));
  for (std::int64_t i = 0; looks <= 0 || i < looks; ++i) {
    const Instant began = clock.now();
    LEAT_DO(
        runtime.on_every_shard([&](rt::Shard&) { return clock.sleep_until(began + interval); }));
    look.before = std::move(look.now);
    LEAT_TRY(look.now, look_at(node));
    look.seconds = std::chrono::duration<double>(clock.now() - began).count();
    show(look, node.endpoint.url, arguments.has("--json"),
         invocation.stdout_is_terminal && invocation.can_redraw());
  }
  return {};
}

Status top(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const NodeAddress node, find_node(invocation, arguments));
  rt::Runtime runtime(1);
  runtime.start();
  Status watched = watch(node, invocation, arguments, runtime);
  runtime.stop();
  return watched;
}

}  // namespace

Exit run_top(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("top"),
                        .positional = {},
                        .switches = kSwitches,
                        .value_flags = kFlags,
                        .takes_settings = true,
                        .asks_node = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, top);
}

}  // namespace leat::programs
