#include "training/training.h"

#include <fmt/format.h>

#include "base/check.h"
#include "training/calls.h"

namespace leat::training {

using http::Operation;
using http1::Method;

std::shared_ptr<s3::Call> call_of(const Parts& parts, http::Exchange& exchange) {
  const auto* caller = static_cast<const s3::Caller*>(exchange.proof.get());
  LEAT_CHECK(caller != nullptr);
  return std::make_shared<s3::Call>(
      s3::Call{.tools = parts.s3, .exchange = exchange, .caller = *caller});
}

rt::Task<std::string> read_body(s3::Call& call, std::size_t max_bytes) {
  const s3::DocumentForm form{.max_bytes = max_bytes};
  auto text = co_await s3::read_document(call, form);
  if (text) co_return *std::move(text);
  const int status = s3error::http_status(text.error().code);
  const Errc code = status == 403 ? Errc::denied : Errc::bad_request;
  co_return fail(status >= 500 ? Errc::internal : code, text.error().message);
}

Result<std::optional<Operation>> TrainingRouter::route(const http1::RequestHead& head) const {
  const bool reads = head.method == Method::get || head.method == Method::head;
  if (head.path == kBatch) {
    if (head.method != Method::post) return fail(Errc::method_not_allowed);
    return Operation::read_batch;
  }
  if (head.path == kLocal) {
    if (head.method != Method::post) return fail(Errc::method_not_allowed);
    return Operation::open_local;
  }
  if (head.path == kDatasets) {
    if (head.method == Method::post) return Operation::write_dataset;
    if (!reads) return fail(Errc::method_not_allowed);
    return Operation::list_datasets;
  }
  if (!head.path.starts_with(fmt::format("{}/", kDatasets))) return std::nullopt;
  if (reads) return Operation::read_dataset;
  const bool writes =
      head.method == Method::put || head.method == Method::post || head.method == Method::delete_;
  if (!writes) return fail(Errc::method_not_allowed);
  return Operation::write_dataset;
}

std::string_view TrainingRouter::allowed(const http1::RequestHead& head) const {
  if (head.path == kBatch || head.path == kLocal) return "POST";
  if (head.path == kDatasets) return "GET, HEAD, POST";
  return "GET, HEAD, PUT, POST, DELETE";
}

class TrainingApi::Handler final : public http::Handler {
 public:
  using Function = Answer (*)(const Parts& parts, http::Exchange& exchange);
  Handler(const Parts& parts, Operation operation, Function function)
      : parts_(parts), operation_(operation), function_(function) {}

  Operation operation() const { return operation_; }
  Answer handle(http::Exchange& exchange) override { return function_(parts_, exchange); }

 private:
  const Parts& parts_;
  const Operation operation_;
  const Function function_;
};

TrainingApi::TrainingApi(const Parts& parts) : parts_(parts) {
  const std::pair<Operation, Handler::Function> all[] = {
      {Operation::read_batch, read_batch},     {Operation::list_datasets, list_datasets},
      {Operation::read_dataset, read_dataset}, {Operation::write_dataset, write_dataset},
      {Operation::open_local, open_local},
  };
  for (const auto& [operation, function] : all)
    handlers_.push_back(std::make_unique<Handler>(parts_, operation, function));
}

TrainingApi::~TrainingApi() = default;

void TrainingApi::install(http::Dispatcher& dispatcher) {
  dispatcher.add_router(router_);
  for (const auto& one : handlers_)
    dispatcher.set_handler(one->operation(), *one);
}

}  // namespace leat::training
