#include "dataset/batch.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "dataset/native.h"

namespace leat::dataset {
namespace {

constexpr std::size_t kStepBytes = 256 * kKiB;
constexpr Duration kFirstWait = std::chrono::milliseconds(20);
constexpr Duration kWaitMax = std::chrono::seconds(1);

std::string body_of(const BatchQuery& query, std::size_t first) {
  std::string body = R"({"on_error":"skip",)";
  if (!query.shared.empty()) body += query.shared + ',';
  body += R"("items":[)";
  for (std::size_t i = first; i < query.items.size(); ++i) {
    if (i > first) body += ',';
    body += query.items[i];
  }
  return body + "]}";
}

// Reads one answer for the items from `next` on; moves `next` behind what has come.
class BatchAnswer {
 public:
  BatchAnswer(const BatchQuery& query, const BatchVisit& visit, std::size_t& next)
      : visit_(visit), next_(next), count_(query.items.size()) {
    call_.method = "POST";
    call_.path = "batch";
    call_.body = body_of(query, next);
  }

  // True in `is_visitors` if the visitor ended it.
  rt::Task<void> read(s3client::S3Client& client, bool& is_visitors) {
    const s3client::Request request = native_request(call_);
    LEAT_CO_TRY(auto response, co_await client.open(request));
    std::vector<std::byte> step(kStepBytes);
    while (!reader_.has_ended()) {
      LEAT_CO_TRY(const std::size_t count, co_await response.read(step));
      if (count == 0) co_return fail(Errc::closed, "a batch broke off");
      reader_.feed(Bytes(step).first(count));
      LEAT_CO_DO(take(is_visitors));
    }
    if (next_ != count_) co_return fail(Errc::closed, "a batch ended early");
    // The connection is good for another request once the body's own end was seen.
    LEAT_CO_DO(co_await response.read(step));
    co_return Status{};
  }

 private:
  Status take(bool& is_visitors) {
    while (true) {
      LEAT_TRY(auto frame, reader_.next());
      if (!frame || frame->header.kind == frames::Kind::end) return {};
      if (next_ == count_) return fail(Errc::corrupt, "a batch has more items than were asked for");
      if (Status seen = visit_(next_, std::move(*frame)); !seen) {
        is_visitors = true;
        return seen;
      }
      ++next_;
    }
  }

  NativeCall call_;
  const BatchVisit& visit_;
  std::size_t& next_;
  const std::size_t count_;
  frames::Reader reader_;
};

}  // namespace

rt::Task<void> read_batch(s3client::S3Client& client, const BatchQuery& query,
                          const BatchVisit& visit) {
  LEAT_CHECK(query.items.size() <= kBatchItemsMax);
  const auto is_cancelled = [&query] {
    return query.is_cancelled != nullptr && query.is_cancelled->load(std::memory_order_relaxed);
  };
  io::Clock& clock = client.clock();
  std::size_t next = 0;
  Duration wait = kFirstWait;
  Instant give_up = clock.now() + query.patience;
  while (next < query.items.size()) {
    if (is_cancelled()) co_return fail(Errc::cancelled);
    const std::size_t before = next;
    bool is_visitors = false;
    BatchAnswer answer(query, visit, next);
    Status read = co_await answer.read(client, is_visitors);
    if (read) continue;
    const Instant now = clock.now();
    if (next > before) {
      give_up = now + query.patience;
      wait = kFirstWait;
    }
    const bool is_damaged = read.error().code() == Errc::corrupt;
    const bool may_pass = !is_visitors && (is_damaged || s3client::is_transient(read.error()));
    if (!may_pass || now + wait > give_up) co_return fail(std::move(read).error());
    LEAT_CO_DO(co_await clock.sleep_until(now + wait));
    wait = std::min(wait * 2, kWaitMax);
  }
  co_return Status{};
}

Error error_in(const frames::Frame& frame) {
  const auto document = nlohmann::json::parse(frame.payload, nullptr, /*allow_exceptions=*/false);
  const auto text = [&document](const char* name) {
    if (!document.is_object()) return std::string();
    const auto found = document.find(name);
    return found != document.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const Errc code = s3client::errc_named(text("error")).value_or(Errc::io);
  return {code, text("message")};
}

}  // namespace leat::dataset
