#include "native/native.h"

#include <functional>

#include "native/calls.h"

namespace leat::native {
namespace {

using http::Operation;
using http1::Method;

using Routed = Result<std::optional<Operation>>;

Routed not_allowed() {
  return fail(Errc::method_not_allowed);
}

Routed route_bucket(std::string_view name, Method method) {
  if (name.empty()) {
    if (method == Method::get || method == Method::head) return Operation::list_buckets;
    return not_allowed();
  }
  if (method == Method::put) return Operation::create_bucket;
  if (method == Method::delete_) return Operation::remove_bucket;
  return not_allowed();
}

Routed route_object(Method method) {
  switch (method) {
    case Method::get:
    case Method::head: return Operation::read_object;
    case Method::put: return Operation::write_object;
    case Method::delete_: return Operation::remove_object;
    case Method::post: return Operation::change_object;
    case Method::options:
    case Method::other: break;
  }
  return not_allowed();
}

}  // namespace

Routed NativeRouter::route(const http1::RequestHead& head) const {
  const bool reads = head.method == Method::get || head.method == Method::head;
  const std::string_view path = head.path;
  if (path.starts_with(kObjects)) return route_object(head.method);
  if (path.starts_with(kList)) return reads ? Operation::list_objects : not_allowed();
  if (path == kDisks) {
    if (head.method == Method::post) return Operation::add_disk;
    return reads ? Operation::list_disks : not_allowed();
  }
  if (path.starts_with(kDisks) && path[kDisks.size()] == '/') {
    return head.method == Method::delete_ ? Operation::remove_disk : not_allowed();
  }
  if (path == kKeys) {
    if (head.method == Method::post) return Operation::create_key;
    return reads ? Operation::list_keys : not_allowed();
  }
  if (path.starts_with(kKeys) && path[kKeys.size()] == '/') {
    return head.method == Method::delete_ ? Operation::remove_key : not_allowed();
  }
  if (path == kBuckets) return route_bucket("", head.method);
  if (path.starts_with(kBuckets) && path[kBuckets.size()] == '/') {
    return route_bucket(path.substr(kBuckets.size() + 1), head.method);
  }
  return std::nullopt;
}

std::string_view NativeRouter::allowed(const http1::RequestHead& head) const {
  if (head.path.starts_with(kObjects)) return "GET, HEAD, PUT, DELETE, POST";
  if (head.path.starts_with(kBuckets) && head.path.size() > kBuckets.size() + 1) {
    return "PUT, DELETE";
  }
  if (head.path == kDisks) return "GET, HEAD, POST";
  if (head.path.starts_with(kDisks)) return "DELETE";
  if (head.path == kKeys) return "GET, HEAD, POST";
  if (head.path.starts_with(kKeys)) return "DELETE";
  return "GET, HEAD";
}

class NativeApi::Call final : public http::Handler {
 public:
  using Function = std::function<Answer(http::Exchange&)>;
  Call(Function function, log::Logger& logger) : function_(std::move(function)), logger_(logger) {}

  Answer handle(http::Exchange& exchange) override {
    auto answer = co_await function_(exchange);
    if (!answer && traits(answer.error().code()).http_status == 500) {
      logger_.error("request failed", {{"request", exchange.request_id},
                                       {"path", exchange.head.path},
                                       {"error", answer.error()}});
    }
    co_return answer;
  }

 private:
  Function function_;
  log::Logger& logger_;
};

NativeApi::NativeApi(store::ShardStore& store, store::DiskKeeper& keeper, keys::KeyStore& keys,
                     log::Logger& logger) {
  const auto add = [this, &logger](Operation operation, Call::Function function) {
    calls_.emplace_back(operation, std::make_unique<Call>(std::move(function), logger));
  };
  using OnStore = Answer (*)(store::ShardStore&, http::Exchange&);
  const std::pair<Operation, OnStore> on_store[] = {
      {Operation::list_buckets, list_buckets},   {Operation::create_bucket, create_bucket},
      {Operation::remove_bucket, remove_bucket}, {Operation::list_objects, list_objects},
      {Operation::read_object, read_object},     {Operation::write_object, write_object},
      {Operation::remove_object, remove_object}, {Operation::change_object, change_object},
      {Operation::list_disks, list_disks},
  };
  for (const auto& [operation, function] : on_store) {
    add(operation, [&store, function](auto& exchange) { return function(store, exchange); });
  }
  using OnDisks = Answer (*)(store::ShardStore&, store::DiskKeeper&, http::Exchange&);
  const std::pair<Operation, OnDisks> on_disks[] = {{Operation::add_disk, add_disk},
                                                    {Operation::remove_disk, remove_disk}};
  for (const auto& [operation, function] : on_disks) {
    add(operation,
        [&store, &keeper, function](auto& exchange) { return function(store, keeper, exchange); });
  }
  using OnKeys = Answer (*)(store::ShardStore&, keys::KeyStore&, http::Exchange&);
  const std::pair<Operation, OnKeys> on_keys[] = {{Operation::list_keys, list_keys},
                                                  {Operation::create_key, create_key},
                                                  {Operation::remove_key, remove_key}};
  for (const auto& [operation, function] : on_keys) {
    add(operation,
        [&store, &keys, function](auto& exchange) { return function(store, keys, exchange); });
  }
}

NativeApi::~NativeApi() = default;

void NativeApi::install(http::Dispatcher& dispatcher) {
  dispatcher.add_router(router_);
  for (const auto& [operation, call] : calls_)
    dispatcher.set_handler(operation, *call);
}

}  // namespace leat::native
