// Registry: every metric of the process, and their text for Prometheus.
//
// The program makes one and passes it by reference; there is no global one. Series of one name form
// a family and share type and help. A name that breaks Prometheus' rules, a second type or help for
// a name, and other bounds for a histogram are bugs, found by LEAT_CHECK at registration.
//
// Safe from any thread. Registration and expose() take a lock; the metrics themselves do not, so
// register once at start and keep the reference.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "metrics/metrics.h"

namespace leat::metrics {

struct Label {
  std::string name;
  std::string value;
};
using Labels = std::vector<Label>;

class Registry {
 public:
  using Callback = std::move_only_function<double()>;

  // Each returns the series with this name and these labels, in whatever order they are given; the
  // same object every time. Names are snake_case; counters, and only they, end in `_total`.
  // Lifetime: the reference is good as long as the registry.
  Counter& counter(std::string_view name, std::string_view help, Labels labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, Labels labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, Labels labels = {},
                       std::span<const double> bounds = kSecondsBounds);

  // A gauge whose value is asked for at each scrape, on the scraping thread.
  // Requires: the series is new; `read` does not call the registry.
  // Lifetime: what `read` looks at outlives the last expose().
  void gauge_callback(std::string_view name, std::string_view help, Labels labels, Callback read);

  // All families by name, in the text format 0.0.4
  // (Content-Type: text/plain; version=0.0.4; charset=utf-8).
  std::string expose();

 private:
  enum class Type { counter, gauge, histogram };
  using Series = std::variant<std::monostate, std::unique_ptr<Counter>, std::unique_ptr<Gauge>,
                              std::unique_ptr<Histogram>, Callback>;
  struct Family {
    Type type;
    std::string help;
    std::map<std::string, Series> series;  // by label text, escaped and sorted: `a="1",b="2"`
  };

  Series& find_or_add(std::string_view name, std::string_view help, Type type, Labels labels);
  template <class Metric, class... Arguments>
  static Metric& get_or_make(Series& series, Arguments... arguments);
  static void write_series(std::string& out, std::string_view name, std::string_view labels,
                           Series& series);

  std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;  // guarded by mutex_
};

}  // namespace leat::metrics
