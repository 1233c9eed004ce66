// How a bucket keeps its objects, as sub-resources of Leat's own: how durable a write is when it is
// answered, and for how long what was deleted can be had back.
#include <fmt/format.h>

#include <array>

#include "config/parse.h"
#include "record/keeping.h"
#include "s3/call.h"

namespace leat::s3 {
namespace {

using http::Response;

constexpr std::string_view kOff = "off";

struct Unit {
  std::string_view name;
  std::uint64_t ms;
};
constexpr std::array kUnits = {Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000},
                               Unit{"s", 1'000}, Unit{"ms", 1}};

// In the largest unit that says it exactly: "7d".
std::string window_text(std::uint64_t ms) {
  if (ms == 0) return std::string(kOff);
  for (const Unit& unit : kUnits) {
    if (ms % unit.ms == 0) return fmt::format("{}{}", ms / unit.ms, unit.name);
  }
  return {};
}

S3Result<std::uint64_t> window_in(std::string_view text) {
  if (text == kOff) return 0;
  const auto window = config::parse_duration(text);
  if (window) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(*window);
    const bool is_exact = ms == *window;
    if (is_exact && static_cast<std::uint64_t>(ms.count()) <= record::kUndoWindowMaxMs) {
      return static_cast<std::uint64_t>(ms.count());
    }
  }
  return refuse(S3Code::invalid_argument,
                "The undo window is off, or a time with its unit of up to 36500d, such as 7d.");
}

using BucketChange = store::ShardStore::BucketChange;

S3Task<void> change(Call& call, BucketChange wanted) {
  auto changing = call.store().change_bucket(call.bucket.id, std::move(wanted));
  co_return told(co_await std::move(changing), S3Code::no_such_bucket);
}

}  // namespace

Answer get_durability(Call& call) {
  const std::string_view word = record::word_of(call.bucket.durability);
  co_return Response::text(200, "text/plain", std::string(word));
}

Answer put_durability(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string word, co_await read_document(call, form));
  const auto durability = record::durability_from_word(word);
  if (!durability) {
    co_return refuse(S3Code::invalid_argument, "The durability is sync, group or relaxed.");
  }
  BucketChange set = [wanted = *durability](record::Bucket& bucket) { bucket.durability = wanted; };
  LEAT_CO_DO(co_await change(call, std::move(set)));
  co_return Response(204);
}

Answer get_undo_window(Call& call) {
  co_return Response::text(200, "text/plain", window_text(call.bucket.undo_window_ms));
}

Answer put_undo_window(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const std::uint64_t window_ms, window_in(text));
  BucketChange set = [window_ms](record::Bucket& bucket) { bucket.undo_window_ms = window_ms; };
  LEAT_CO_DO(co_await change(call, std::move(set)));
  co_return Response(204);
}

}  // namespace leat::s3
