#include "capi/loader_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "capi/options.h"
#include "config/nearest.h"

namespace leat::capi {
namespace {

using decode::Crop;
using decode::To;
using feed::ColumnOptions;
using feed::Tail;

constexpr std::array<std::string_view, 22> kLoader = {
    "batch_size", "fields",  "keys",    "shuffle",      "seed",     "epoch",
    "rank",       "world",   "workers", "window_bytes", "position", "tail",
    "rows",       "repeat",  "threads", "memory_bytes", "decode",   "on_error",
    "errors_max", "weights", "samples", "retry_seconds"};
constexpr std::array<std::string_view, 4> kRows = {"fields", "keys", "decode", "seed"};
constexpr std::array<std::string_view, 9> kDecode = {"to",   "size",     "crop",  "scale", "ratio",
                                                     "flip", "optional", "dtype", "shape"};
constexpr std::array<std::string_view, 3> kShuffles = {"block", "full", "none"};
constexpr std::array<std::string_view, 3> kTails = {"drop", "pad", "uneven"};
constexpr std::array<std::string_view, 2> kOnError = {"raise", "skip"};
constexpr std::array<std::string_view, 10> kTos = {"bytes", "text",    "json",    "rgb8", "int32",
                                                   "int64", "float32", "float64", "raw",  "npy"};
// In the order of decode::Dtype.
constexpr std::array<std::string_view, 12> kDtypes = {"uint8",   "int8",    "uint16",  "int16",
                                                      "uint32",  "int32",   "uint64",  "int64",
                                                      "float16", "float32", "float64", "bool"};
constexpr std::array<std::string_view, 3> kCrops = {"center", "random_resized", "none"};
constexpr std::uint64_t kSideMax = 16384;
constexpr std::uint64_t kThreadsMax = 1024;
constexpr double kRetryMaxSeconds = 7 * 24 * 3600;

// Two numbers, the first not above the second.
Result<std::array<double, 2>> pair_in(const Options& options, std::string_view name,
                                      std::array<double, 2> otherwise, double max) {
  LEAT_TRY(const std::vector<double> given, options.reals(name));
  if (given.empty()) return otherwise;
  const bool is_good = given.size() == 2 && given[0] > 0 && given[0] <= given[1] && given[1] <= max;
  if (!is_good) {
    return fail(Errc::bad_request,
                fmt::format("the option {} is [low, high], above 0 and up to {}", name, max));
  }
  return std::array{given[0], given[1]};
}

// What "to" says, which for numbers is their type.
void decode_to(std::string_view word, decode::Options& decode) {
  constexpr std::array kPlain = {std::pair("bytes", To::bytes), std::pair("text", To::text),
                                 std::pair("json", To::json),   std::pair("rgb8", To::rgb8),
                                 std::pair("raw", To::raw),     std::pair("npy", To::npy)};
  for (const auto& [name, to] : kPlain) {
    if (word == name) decode.to = to;
  }
  const auto number = std::ranges::find(kDtypes, word);
  if (number == kDtypes.end()) return;
  decode.to = To::number;
  decode.dtype = static_cast<decode::Dtype>(number - kDtypes.begin());
}

// "dtype" and "shape" of arrays.
Status array_options(const Options& options, const std::string& field, decode::Options& decode) {
  if (!options.has("dtype") || !options.has("shape")) {
    return fail(Errc::bad_request,
                fmt::format("decode.{}: an array needs its dtype and its shape", field));
  }
  LEAT_TRY(const std::size_t dtype, options.word("dtype", kDtypes));
  decode.dtype = static_cast<decode::Dtype>(dtype);
  LEAT_TRY(decode.shape, options.numbers("shape"));
  std::uint64_t size = decode::size_of(decode.dtype);
  bool is_good = decode.shape.size() <= decode::kDimsMax;
  for (const std::uint64_t side : decode.shape) {
    is_good = is_good && side > 0 && side <= decode::kArrayBytesMax / size;
    if (is_good) size *= side;
  }
  if (is_good) return {};
  return fail(Errc::bad_request,
              fmt::format("the option decode.{}.shape is up to {} numbers above 0, for at most {} "
                          "GiB",
                          field, decode::kDimsMax, decode::kArrayBytesMax / kGiB));
}

Result<decode::Options> decode_options(const Options& options, const std::string& field) {
  decode::Options decode;
  LEAT_TRY(const std::size_t to, options.word("to", kTos));
  decode_to(kTos[to], decode);
  LEAT_TRY(const std::size_t crop, options.word("crop", kCrops));
  decode.crop = std::array{Crop::center, Crop::random_resized, Crop::none}[crop];
  LEAT_TRY(decode.flip, options.flag("flip", false));
  LEAT_TRY(decode.scale, pair_in(options, "scale", decode.scale, 1.0));
  LEAT_TRY(decode.ratio, pair_in(options, "ratio", decode.ratio, 1000.0));
  LEAT_TRY(const std::vector<std::uint64_t> size, options.numbers("size"));
  if (decode.to == To::raw || decode.to == To::npy) LEAT_DO(array_options(options, field, decode));
  if (decode.to != To::rgb8) return decode;
  const auto is_side = [](std::uint64_t side) { return side > 0 && side <= kSideMax; };
  if (size.size() != 2 || !std::ranges::all_of(size, is_side)) {
    return fail(
        Errc::bad_request,
        fmt::format("the option decode.{}.size is [height, width], 1 to {} each", field, kSideMax));
  }
  decode.height = static_cast<std::uint32_t>(size[0]);
  decode.width = static_cast<std::uint32_t>(size[1]);
  return decode;
}

// All fields of all datasets, in the order of the first, then of what the others add.
std::vector<std::string> all_fields(const DatasetPointers& datasets) {
  std::vector<std::string> all;
  for (const auto& dataset : datasets) {
    for (const std::string& field : dataset->view().fields()) {
      if (std::ranges::find(all, field) == all.end()) all.push_back(field);
    }
  }
  return all;
}

Status check_field(const std::string& field, const std::vector<std::string>& known,
                   const DatasetPointers& datasets) {
  if (std::ranges::find(known, field) != known.end()) return {};
  const std::vector<std::string_view> words(known.begin(), known.end());
  const auto near = config::nearest(field, words);
  return fail(Errc::bad_request,
              fmt::format("{} has no field {:?}{}", datasets.front()->facts().reference(), field,
                          near ? fmt::format("; did you mean {:?}?", *near) : ""));
}

Result<std::vector<ColumnOptions>> columns_in(const Options& options,
                                              const DatasetPointers& datasets) {
  const std::vector<std::string> known = all_fields(datasets);
  LEAT_TRY(std::vector<std::string> fields, options.texts("fields"));
  if (!options.has("fields")) fields = known;
  std::vector<ColumnOptions> columns;
  for (std::string& field : fields) {
    LEAT_DO(check_field(field, known, datasets));
    const auto is_it = [&field](const ColumnOptions& column) { return column.field == field; };
    if (std::ranges::any_of(columns, is_it)) {
      return fail(Errc::bad_request, fmt::format("the field {:?} is asked for twice", field));
    }
    columns.push_back({.field = std::move(field)});
  }
  const nlohmann::json* decodes = options.find("decode");
  if (decodes == nullptr) return columns;
  if (!decodes->is_object()) return fail(Errc::bad_request, "the option decode is an object");
  for (const auto& [field, document] : decodes->items()) {
    const auto is_it = [&field](const ColumnOptions& column) { return column.field == field; };
    const auto column = std::ranges::find_if(columns, is_it);
    if (column == columns.end()) {
      return fail(Errc::bad_request,
                  fmt::format("decode names {:?}, which is not among the fields", field));
    }
    LEAT_TRY(const Options own, Options::of(document, fmt::format("decode.{}.", field), kDecode));
    LEAT_TRY(column->decode, decode_options(own, field));
    LEAT_TRY(column->is_optional, own.flag("optional", false));
  }
  return columns;
}

feed::Source source_of(std::shared_ptr<const dataset::Dataset> dataset,
                       const std::vector<ColumnOptions>& columns) {
  feed::Source source;
  for (const ColumnOptions& column : columns)
    source.fields.push_back(dataset->view().catalog().field_id(column.field));
  source.dataset = std::move(dataset);
  return source;
}

Result<feed::OrderOptions> order_in(const Options& options) {
  feed::OrderOptions order;
  LEAT_TRY(const std::size_t shuffle, options.word("shuffle", kShuffles));
  order.shuffle =
      std::array{order::Shuffle::block, order::Shuffle::full, order::Shuffle::none}[shuffle];
  LEAT_TRY(order.seed, options.number("seed", 0));
  LEAT_TRY(order.window_bytes, options.number("window_bytes", order.window_bytes));
  return order;
}

using Rows = std::optional<std::vector<std::uint64_t>>;

Result<Rows> rows_in(const Options& options) {
  if (!options.has("rows")) return Rows();
  LEAT_TRY(std::vector<std::uint64_t> rows, options.numbers("rows"));
  return Rows(std::move(rows));
}

// Of each dataset. A mix has a list or null for each of its own.
Result<std::vector<Rows>> all_rows_in(const Options& options, std::size_t count) {
  if (count == 1) {
    LEAT_TRY(Rows rows, rows_in(options));
    return std::vector<Rows>{std::move(rows)};
  }
  std::vector<Rows> all(count);
  const nlohmann::json* lists = options.find("rows");
  if (lists == nullptr) return all;
  if (!lists->is_array() || lists->size() != count) {
    return fail(Errc::bad_request, "the option rows of a mix is a list, or null, for each dataset");
  }
  for (std::size_t i = 0; i < count; ++i) {
    LEAT_TRY(const Options one, Options::of({{"rows", (*lists)[i]}}, "", kLoader));
    LEAT_TRY(all[i], rows_in(one));
  }
  return all;
}

Result<feed::CutOptions> cut_in(const Options& options) {
  feed::CutOptions cut;
  LEAT_TRY(cut.batch_size, options.number("batch_size", 1));
  LEAT_TRY(cut.rank, options.number("rank", 0));
  LEAT_TRY(cut.world, options.number("world", 1));
  LEAT_TRY(cut.position, options.number("position", 0));
  LEAT_TRY(const std::size_t tail, options.word("tail", kTails));
  cut.tail = std::array{Tail::drop, Tail::pad, Tail::uneven}[tail];
  LEAT_TRY(const std::vector<std::uint64_t> workers, options.numbers("workers"));
  if (!workers.empty() && workers.size() != 2) {
    return fail(Errc::bad_request, "the option workers is [this one's number, how many]");
  }
  if (!workers.empty()) {
    cut.worker = workers[0];
    cut.workers = workers[1];
  }
  return cut;
}

Result<std::vector<double>> weights_in(const Options& options, std::size_t count) {
  LEAT_TRY(std::vector<double> weights, options.reals("weights"));
  if (count == 1 && weights.empty()) return weights;
  if (weights.empty()) weights.assign(count, 1.0);
  const auto is_weight = [](double weight) { return std::isfinite(weight) && weight > 0; };
  if (weights.size() != count || !std::ranges::all_of(weights, is_weight)) {
    return fail(Errc::bad_request, "the option weights is one number above 0 for each dataset");
  }
  return weights;
}

}  // namespace

Result<LoaderOptions> loader_options(const DatasetPointers& datasets, const char* text) {
  LEAT_TRY(const Options options, Options::parse(text, kLoader));
  LoaderOptions loader;
  feed::FeedOptions& feed = loader.feed;
  LEAT_TRY(feed.plan.cut, cut_in(options));
  LEAT_TRY(feed.plan.epoch, options.number("epoch", 0));
  LEAT_TRY(feed.plan.repeats, options.flag("repeat", false));
  LEAT_TRY(feed.plan.weights, weights_in(options, datasets.size()));
  if (options.has("samples")) {
    LEAT_TRY(feed.plan.samples, options.number("samples", 0));
  }
  LEAT_TRY(feed.fill.columns, columns_in(options, datasets));
  LEAT_TRY(feed.fill.wants_keys, options.flag("keys", false));
  LEAT_TRY(feed::OrderOptions order, order_in(options));
  LEAT_TRY(std::vector<Rows> rows, all_rows_in(options, datasets.size()));
  feed.fill.seed = order.seed;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    feed::Source source = source_of(datasets[i], feed.fill.columns);
    order.rows = std::move(rows[i]);
    LEAT_TRY(source.order, feed::SampleOrder::make(datasets[i], order));
    feed.sources.push_back(std::move(source));
  }
  LEAT_TRY(feed.memory_bytes, options.number("memory_bytes", 0));
  LEAT_TRY(const std::size_t on_error, options.word("on_error", kOnError));
  feed.skips_errors = on_error == 1;
  LEAT_TRY(feed.errors_max, options.number("errors_max", feed.errors_max));
  LEAT_TRY(const std::uint64_t threads, options.number("threads", 0));
  if (threads > kThreadsMax) return fail(Errc::bad_request, "the option threads is at most 1024");
  loader.threads = threads;
  LEAT_TRY(const double seconds, options.real("retry_seconds", -1));
  if (seconds > kRetryMaxSeconds) {
    return fail(Errc::bad_request, "the option retry_seconds is at most a week");
  }
  if (seconds >= 0) {
    loader.patience = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }
  return loader;
}

Result<RowsOptions> rows_options(std::shared_ptr<const dataset::Dataset> dataset,
                                 const char* text) {
  LEAT_TRY(const Options options, Options::parse(text, kRows));
  RowsOptions rows;
  const DatasetPointers datasets = {dataset};
  LEAT_TRY(rows.fill.columns, columns_in(options, datasets));
  LEAT_TRY(rows.fill.wants_keys, options.flag("keys", false));
  LEAT_TRY(rows.fill.seed, options.number("seed", 0));
  rows.source = source_of(std::move(dataset), rows.fill.columns);
  return rows;
}

}  // namespace leat::capi
