#include "metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "metrics/registry.h"

namespace leat::metrics {
namespace {

constexpr std::array kFewBounds = {0.5, 1.0, 2.0};

TEST(Registry, ExposesFamiliesByNameWithHelpAndTypeOnce) {
  Registry registry;
  registry.counter("leat_requests_total", "Requests.", {{"operation", "put"}}).add();
  registry.counter("leat_requests_total", "Requests.", {{"operation", "get"}}).add(41);
  registry.gauge("leat_connections", "Open connections.").set(3);
  registry.gauge_callback("leat_free_bytes", "Free space.", {{"disk", "0"}}, [] { return 1e12; });
  Histogram& seconds =
      registry.histogram("leat_wait_seconds", "Waits.", {{"queue", "disk"}}, kFewBounds);
  seconds.observe(0.25);
  seconds.observe(1);
  seconds.observe(7);
  EXPECT_EQ(registry.expose(),
            "# HELP leat_connections Open connections.\n"
            "# TYPE leat_connections gauge\n"
            "leat_connections 3\n"
            "# HELP leat_free_bytes Free space.\n"
            "# TYPE leat_free_bytes gauge\n"
            "leat_free_bytes{disk=\"0\"} 1000000000000\n"
            "# HELP leat_requests_total Requests.\n"
            "# TYPE leat_requests_total counter\n"
            "leat_requests_total{operation=\"get\"} 41\n"
            "leat_requests_total{operation=\"put\"} 1\n"
            "# HELP leat_wait_seconds Waits.\n"
            "# TYPE leat_wait_seconds histogram\n"
            "leat_wait_seconds_bucket{queue=\"disk\",le=\"0.5\"} 1\n"
            "leat_wait_seconds_bucket{queue=\"disk\",le=\"1\"} 2\n"
            "leat_wait_seconds_bucket{queue=\"disk\",le=\"2\"} 2\n"
            "leat_wait_seconds_bucket{queue=\"disk\",le=\"+Inf\"} 3\n"
            "leat_wait_seconds_sum{queue=\"disk\"} 8.25\n"
            "leat_wait_seconds_count{queue=\"disk\"} 3\n");
}

TEST(Registry, EscapesLabelValuesAndHelp) {
  Registry registry;
  registry.gauge("leat_x", "one\ntwo \\ \"three\"", {{"path", "a\\b\"c\nd"}}).set(-0.5);
  EXPECT_EQ(registry.expose(),
            "# HELP leat_x one\\ntwo \\\\ \"three\"\n"
            "# TYPE leat_x gauge\n"
            "leat_x{path=\"a\\\\b\\\"c\\nd\"} -0.5\n");
}

TEST(Registry, ReturnsTheSameObjectWhateverTheOrderOfLabels) {
  Registry registry;
  Counter& one = registry.counter("leat_x_total", "X.", {{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(&one, &registry.counter("leat_x_total", "X.", {{"b", "2"}, {"a", "1"}}));
  EXPECT_NE(&one, &registry.counter("leat_x_total", "X.", {{"b", "1"}, {"a", "2"}}));
}

TEST(Registry, AsksCallbacksAtEveryScrape) {
  Registry registry;
  double depth = 1;
  registry.gauge_callback("leat_depth", "Depth.", {}, [&depth] { return depth; });
  EXPECT_NE(registry.expose().find("leat_depth 1\n"), std::string::npos);
  depth = std::numeric_limits<double>::infinity();
  EXPECT_NE(registry.expose().find("leat_depth +Inf\n"), std::string::npos);
}

TEST(RegistryDeathTest, RefusesBadNames) {
  Registry registry;
  EXPECT_DEATH(registry.counter("leat_requests", "X."), "_total");
  EXPECT_DEATH(registry.gauge("leat_requests_total", "X."), "_total");
  EXPECT_DEATH(registry.gauge("leat-requests", "X."), "is_snake_case");
  EXPECT_DEATH(registry.gauge("9leat", "X."), "is_snake_case");
  EXPECT_DEATH(registry.gauge("leatRequests", "X."), "is_snake_case");
  EXPECT_DEATH(registry.gauge("leat_x_count", "X."), "has_reserved_ending");
  EXPECT_DEATH(registry.gauge("leat_x", ""), "help");
  EXPECT_DEATH(registry.gauge("leat_x", "X.", {{"le", "1"}}), "label.name");
  EXPECT_DEATH(registry.gauge("leat_x", "X.", {{"a", "1"}, {"a", "2"}}), "adjacent_find");
}

TEST(RegistryDeathTest, RefusesASecondMeaningOfAName) {
  Registry registry;
  registry.gauge("leat_x", "X.");
  registry.histogram("leat_h", "H.");
  EXPECT_DEATH(registry.histogram("leat_x", "X."), "type");
  EXPECT_DEATH(registry.gauge("leat_x", "Y."), "help");
  EXPECT_DEATH(registry.gauge_callback("leat_x", "X.", {}, [] { return 0.0; }), "monostate");
  EXPECT_DEATH(registry.histogram("leat_h", "H.", {}, kBytesBounds), "bounds");
}

TEST(Histogram, PutsAValueOnItsBoundIntoTheLowerBucket) {
  Histogram histogram(kFewBounds);
  for (const double value : {-1.0, 0.5, 0.51, 2.0, 2.01}) {
    histogram.observe(value);
  }
  EXPECT_EQ(histogram.snapshot().counts, (std::vector<std::uint64_t>{2, 1, 1, 1}));
}

TEST(HistogramDeathTest, RefusesWhatWouldSpoilItsSumAndBadBounds) {
  Histogram histogram(kFewBounds);
  EXPECT_DEATH(histogram.observe(std::nan("")), "isfinite");
  EXPECT_DEATH(histogram.observe(HUGE_VAL), "isfinite");
  EXPECT_DEATH(Histogram(std::vector<double>{}), "empty");
  EXPECT_DEATH(Histogram(std::vector<double>{1, 1}), "adjacent_find");
  EXPECT_DEATH(Histogram(std::vector<double>(31, 1.0)), "kBoundsMax");
}

TEST(Metrics, LoseNoCountWhenManyThreadsBumpWithAndWithoutSlots) {
  constexpr int kThreads = 12;  // more than there are cells
  constexpr int kRounds = 20'000;
  Registry registry;
  Counter& counter = registry.counter("leat_x_total", "X.");
  Gauge& gauge = registry.gauge("leat_x", "X.");
  Histogram& histogram = registry.histogram("leat_x_seconds", "X.", {}, kFewBounds);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        if (t % 3 != 0) use_slot(t);
        for (int i = 0; i < kRounds; ++i) {
          counter.add();
          gauge.add(i % 2 == 0 ? 1 : -1);
          histogram.observe(i % 2 == 0 ? 0.25 : 1.5);
        }
      });
    }
    registry.expose();  // A scrape beside the writers must be safe, whatever it sees.
  }
  constexpr std::uint64_t kTotal = kThreads * kRounds;
  EXPECT_EQ(counter.value(), kTotal);
  EXPECT_EQ(gauge.value(), 0);
  EXPECT_EQ(histogram.snapshot().counts,
            (std::vector<std::uint64_t>{kTotal / 2, 0, kTotal / 2, 0}));
  EXPECT_EQ(histogram.snapshot().sum, static_cast<double>(kTotal) * 1.75 / 2);
}

TEST(Exposition, PassesPromtool) {
  ASSERT_EQ(std::system("command -v promtool >/dev/null"), 0) << "install the package prometheus";
  Registry registry;
  registry.counter("leat_http_requests_total", "Requests.", {{"operation", "get \"x\"\n\\"}}).add();
  registry.counter("leat_http_requests_total", "Requests.", {{"operation", "put"}}).add(7);
  registry.gauge("leat_http_connections", "Open connections.").set(2);
  registry.gauge_callback("leat_disk_free_bytes", "Free space.", {}, [] { return 0.1; });
  registry.histogram("leat_http_request_seconds", "Latency.").observe(0.003);
  registry.histogram("leat_http_body_bytes", "Bodies.", {{"way", "in"}}, kBytesBounds)
      .observe(5000);

  std::FILE* promtool = popen("promtool check metrics 2>&1", "w");
  ASSERT_NE(promtool, nullptr);
  const std::string text = registry.expose();
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), promtool), text.size());
  EXPECT_EQ(pclose(promtool), 0) << text;
}

}  // namespace
}  // namespace leat::metrics
