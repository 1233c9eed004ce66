// Changing datasets over HTTP: docs/reference/datasets.md.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "training/request.h"

namespace leat::training {
namespace {

using datasets::Commit;
using datasets::DatasetName;
using datasets::Opened;
using datasets::Reference;
using http::Response;
using nlohmann::json;

constexpr std::uint64_t kPinSeconds = 600;
constexpr std::uint64_t kPinSecondsMax = 30ULL * 24 * 3600;

Result<Commit> commit_in(const json& document, DatasetName dataset) {
  LEAT_DO(check_words(document, {"dataset", "base", "exact", "add", "remove", "delete", "restore",
                                 "message", "transaction", "appended"}));
  Commit commit{.dataset = std::move(dataset)};
  LEAT_DO(take(document, "add", commit.add));
  LEAT_DO(take(document, "remove", commit.remove));
  LEAT_DO(take(document, "delete", commit.delete_samples));
  LEAT_DO(take(document, "base", commit.base));
  LEAT_DO(take(document, "exact", commit.is_exact));
  LEAT_DO(take(document, "restore", commit.restore));
  LEAT_DO(take(document, "message", commit.message));
  LEAT_DO(take(document, "transaction", commit.transaction));
  LEAT_DO(take(document, "appended", commit.appended));
  return commit;
}

Answer commit_one(Request& request) {
  LEAT_CO_DO(request.allow({"commit"}));
  LEAT_CO_TRY(const json document, co_await request.read_json());
  LEAT_CO_TRY(Commit commit, commit_in(document, request.reference.dataset));
  LEAT_CO_DO(request.may_show(commit.dataset, commit.add));
  std::vector<Commit> commits;
  commits.push_back(std::move(commit));
  LEAT_CO_TRY(const auto done, co_await request.parts.datasets.commit(std::move(commits)));
  co_return json_answer(200, json_of(done.front()));
}

// Several datasets, at one moment: {"commits": [{"dataset": "B/N", …}, …]}.
Answer commit_several(Request& request) {
  LEAT_CO_DO(request.allow({"commit"}));
  LEAT_CO_TRY(const json document, co_await request.read_json());
  const auto all = document.is_object() ? document.find("commits") : document.end();
  if (all == document.end() || !all->is_array()) {
    co_return fail(Errc::bad_request, "\"commits\" is missing or no list");
  }
  std::vector<Commit> commits;
  for (const json& one : *all) {
    if (!one.is_object() || !one.contains("dataset") || !one["dataset"].is_string()) {
      co_return fail(Errc::bad_request, "a commit has no \"dataset\"");
    }
    LEAT_CO_TRY(const Reference reference,
                datasets::parse_reference(one["dataset"].get<std::string>()));
    LEAT_CO_DO(request.may(access::Action::put_object, reference.dataset));
    LEAT_CO_TRY(Commit commit, commit_in(one, reference.dataset));
    LEAT_CO_DO(request.may_show(commit.dataset, commit.add));
    commits.push_back(std::move(commit));
  }
  LEAT_CO_TRY(const auto done, co_await request.parts.datasets.commit(std::move(commits)));
  json answers = json::array();
  for (const Opened& one : done)
    answers.push_back(json_of(one));
  co_return json_answer(200, {{"commits", std::move(answers)}});
}

Answer tag_version(Request& request, const std::string& tag) {
  LEAT_CO_DO(request.allow({"tag"}));
  LEAT_CO_DO(request.may(access::Action::put_object, request.reference.dataset));
  LEAT_CO_TRY(const Opened opened, co_await request.parts.datasets.open(request.reference));
  LEAT_CO_DO(co_await request.parts.datasets.tag(opened, tag));
  co_return json_answer(200, {{"tag", tag}, {"version", opened.ref.version}});
}

datasets::Datasets::PinHolder holder_of(const Request& request) {
  const s3::Caller& caller = request.call->caller;
  const bool may_write =
      request.may(access::Action::put_object, request.reference.dataset).has_value();
  datasets::Datasets::PinHolder holder{.may_write = may_write};
  if (caller.who == s3::Who::key) holder.id = caller.key->id;
  if (caller.who == s3::Who::operators) holder.id = "operators";  // no access key is called so
  return holder;
}

// A pin is for who reads: it needs no right to write.
Answer pin_version(Request& request, const std::string& pin) {
  LEAT_CO_DO(request.allow({"pin", "seconds"}));
  LEAT_CO_DO(request.may(access::Action::get_object, request.reference.dataset));
  LEAT_CO_TRY(const std::uint64_t seconds, request.number("seconds", kPinSeconds, kPinSecondsMax));
  LEAT_CO_TRY(const Opened opened, co_await request.parts.datasets.open(request.reference));
  auto pinning =
      request.parts.datasets.pin(opened, pin, std::chrono::seconds(seconds), holder_of(request));
  LEAT_CO_DO(co_await std::move(pinning));
  co_return json_answer(
      200, {{"pin", pin}, {"version", opened.ref.version}, {"seconds", std::max(seconds, 2UL)}});
}

// Whoever acts has asked for the very right of that act, in the same place.
Answer post_dataset(Request& request) {
  if (const auto tag = request.query("tag")) co_return co_await tag_version(request, *tag);
  if (const auto pin = request.query("pin")) co_return co_await pin_version(request, *pin);
  LEAT_CO_DO(request.check_no_version("this"));
  const DatasetName& name = request.reference.dataset;
  if (request.query("vacuum")) {
    LEAT_CO_DO(request.may(access::Action::delete_object, name));
    co_return co_await vacuum_dataset(request);
  }
  LEAT_CO_DO(request.may(access::Action::put_object, name));
  if (request.query("append")) co_return co_await append_samples(request);
  if (request.query("adopt")) co_return co_await adopt_objects(request);
  if (request.query("commit")) co_return co_await commit_one(request);
  co_return fail(Errc::not_implemented,
                 "POST to a dataset takes ?commit, ?append, ?adopt, ?vacuum, ?tag or ?pin");
}

Answer delete_dataset(Request& request) {
  LEAT_CO_DO(request.check_no_version("what is removed"));
  const DatasetName& name = request.reference.dataset;
  if (const auto pin = request.query("pin")) {
    LEAT_CO_DO(request.allow({"pin"}));
    LEAT_CO_DO(request.may(access::Action::get_object, name));
    auto removing = request.parts.datasets.remove_pin(name, *pin, holder_of(request));
    LEAT_CO_DO(co_await std::move(removing));
    co_return Response(204);
  }
  LEAT_CO_DO(request.allow({"tag"}));
  LEAT_CO_DO(request.may(access::Action::delete_object, name));
  if (const auto tag = request.query("tag")) {
    LEAT_CO_DO(co_await request.parts.datasets.remove_tag(name, *tag));
  } else {
    LEAT_CO_DO(co_await request.parts.datasets.remove(name));
  }
  co_return Response(204);
}

}  // namespace

Answer write_dataset(const Parts& parts, http::Exchange& exchange) {
  Request request(parts, exchange);
  if (exchange.head.path == kDatasets) {
    LEAT_CO_DO(request.parse_query());
    if (request.query("rebuild")) co_return co_await rebuild_datasets(request);
    co_return co_await commit_several(request);
  }
  LEAT_CO_DO(request.parse());
  if (exchange.head.method == http1::Method::delete_) co_return co_await delete_dataset(request);
  if (exchange.head.method == http1::Method::post) co_return co_await post_dataset(request);
  LEAT_CO_DO(request.allow({}));
  LEAT_CO_DO(request.may(access::Action::put_object, request.reference.dataset));
  LEAT_CO_DO(request.check_no_version("what is made"));
  LEAT_CO_TRY(const Opened made, co_await parts.datasets.create(request.reference.dataset));
  co_return json_answer(201, json_of(made));
}

}  // namespace leat::training
