#include "metrics/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace leat::metrics {
namespace {

bool is_snake_case(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, allowed);
}

// A histogram adds these endings to its name, so no family may have one itself.
bool has_reserved_ending(std::string_view name) {
  return name.ends_with("_bucket") || name.ends_with("_sum") || name.ends_with("_count");
}

std::string escape(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

std::string label_text(Labels labels) {
  std::ranges::sort(labels, {}, &Label::name);
  LEAT_CHECK(std::ranges::adjacent_find(labels, {}, &Label::name) == labels.end());
  std::string out;
  for (const Label& label : labels) {
    LEAT_CHECK(is_snake_case(label.name) && label.name != "le");
    fmt::format_to(std::back_inserter(out), "{}{}=\"{}\"", out.empty() ? "" : ",", label.name,
                   escape(label.value, /*quotes=*/true));
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

void write_sample(std::string& out, std::string_view name, std::string_view labels,
                  std::string_view value) {
  const bool bare = labels.empty();
  fmt::format_to(std::back_inserter(out), "{}{}{}{} {}\n", name, bare ? "" : "{", labels,
                 bare ? "" : "}", value);
}

void write_histogram(std::string& out, std::string_view name, std::string_view labels,
                     const Histogram& histogram) {
  const Histogram::Snapshot snapshot = histogram.snapshot();
  const std::span bounds = histogram.bounds();
  const std::string bucket = fmt::format("{}_bucket", name);
  const std::string_view comma = labels.empty() ? "" : ",";
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < snapshot.counts.size(); ++i) {
    so_far += snapshot.counts[i];
    const std::string bound = i < bounds.size() ? number(bounds[i]) : "+Inf";
    write_sample(out, bucket, fmt::format("{}{}le=\"{}\"", labels, comma, bound),
                 fmt::to_string(so_far));
  }
  write_sample(out, fmt::format("{}_sum", name), labels, number(snapshot.sum));
  // The count is that of the buckets just written, so that a scrape always agrees with itself.
  write_sample(out, fmt::format("{}_count", name), labels, fmt::to_string(so_far));
}

}  // namespace

template <class Metric, class... Arguments>
Metric& Registry::get_or_make(Series& series, Arguments... arguments) {
  if (std::holds_alternative<std::monostate>(series)) {
    series = std::make_unique<Metric>(arguments...);
  }
  LEAT_CHECK(std::holds_alternative<std::unique_ptr<Metric>>(series));
  return *std::get<std::unique_ptr<Metric>>(series);
}

Counter& Registry::counter(std::string_view name, std::string_view help, Labels labels) {
  const std::scoped_lock lock(mutex_);
  return get_or_make<Counter>(find_or_add(name, help, Type::counter, std::move(labels)));
}

Gauge& Registry::gauge(std::string_view name, std::string_view help, Labels labels) {
  const std::scoped_lock lock(mutex_);
  return get_or_make<Gauge>(find_or_add(name, help, Type::gauge, std::move(labels)));
}

Histogram& Registry::histogram(std::string_view name, std::string_view help, Labels labels,
                               std::span<const double> bounds) {
  const std::scoped_lock lock(mutex_);
  Series& series = find_or_add(name, help, Type::histogram, std::move(labels));
  Histogram& histogram = get_or_make<Histogram>(series, bounds);
  LEAT_CHECK(std::ranges::equal(histogram.bounds(), bounds));
  return histogram;
}

void Registry::gauge_callback(std::string_view name, std::string_view help, Labels labels,
                              Callback read) {
  const std::scoped_lock lock(mutex_);
  Series& series = find_or_add(name, help, Type::gauge, std::move(labels));
  LEAT_CHECK(std::holds_alternative<std::monostate>(series));
  series = std::move(read);
}

Registry::Series& Registry::find_or_add(std::string_view name, std::string_view help, Type type,
                                        Labels labels) {
  auto family = families_.find(name);
  if (family == families_.end()) {
    LEAT_CHECK(is_snake_case(name) && !has_reserved_ending(name));
    LEAT_CHECK(name.ends_with("_total") == (type == Type::counter));
    LEAT_CHECK(!help.empty());
    family = families_.emplace(name, Family{type, std::string(help), {}}).first;
  }
  LEAT_CHECK(family->second.type == type);
  LEAT_CHECK(family->second.help == help);
  return family->second.series[label_text(std::move(labels))];
}

std::string Registry::expose() {
  constexpr std::array kTypeNames = {"counter", "gauge", "histogram"};
  const std::scoped_lock lock(mutex_);
  std::string out;
  for (auto& [name, family] : families_) {
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name,
                   escape(family.help, /*quotes=*/false), name,
                   kTypeNames[static_cast<std::size_t>(family.type)]);
    for (auto& [labels, series] : family.series) {
      write_series(out, name, labels, series);
    }
  }
  return out;
}

void Registry::write_series(std::string& out, std::string_view name, std::string_view labels,
                            Series& series) {
  if (const auto* counter = std::get_if<std::unique_ptr<Counter>>(&series)) {
    write_sample(out, name, labels, fmt::to_string((*counter)->value()));
  } else if (const auto* gauge = std::get_if<std::unique_ptr<Gauge>>(&series)) {
    write_sample(out, name, labels, number((*gauge)->value()));
  } else if (const auto* histogram = std::get_if<std::unique_ptr<Histogram>>(&series)) {
    write_histogram(out, name, labels, **histogram);
  } else {
    write_sample(out, name, labels, number(std::get<Callback>(series)()));
  }
}

}  // namespace leat::metrics
