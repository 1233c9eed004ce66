// Upkeep of datasets over HTTP: adoption, vacuum, lint, rebuilding.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stored/names.h"
#include "training/request.h"
#include "upkeep/adopt.h"
#include "upkeep/lint.h"
#include "upkeep/rebuild.h"
#include "upkeep/vacuum.h"

namespace leat::training {
namespace {

using datasets::Commit;
using datasets::DatasetName;
using datasets::Opened;
using nlohmann::json;

constexpr std::uint64_t kProblems = 100;
constexpr std::uint64_t kProblemsMax = 10'000;

struct Adoption {
  Commit commit{};
  std::string prefix{};
  std::string kind = "tars";
  std::uint64_t shard_bytes = 64 * kMiB;
  std::uint64_t adopted = 0;
  std::uint64_t passed_over = 0;
};

Result<Adoption> adoption_in(const json& document, const DatasetName& name) {
  LEAT_DO(check_words(document, {"prefix", "kind", "shard_bytes", "message", "transaction"}));
  Adoption adoption{.commit = {.dataset = name}, .prefix = name.name + "/"};
  LEAT_DO(take(document, "prefix", adoption.prefix));
  LEAT_DO(take(document, "kind", adoption.kind));
  LEAT_DO(take(document, "shard_bytes", adoption.shard_bytes));
  LEAT_DO(take(document, "message", adoption.commit.message));
  LEAT_DO(take(document, "transaction", adoption.commit.transaction));
  if (adoption.kind != "tars" && adoption.kind != "objects") {
    return fail(Errc::bad_request, "\"kind\" is \"tars\" or \"objects\"");
  }
  return adoption;
}

// What there is to adopt becomes the commit's.
rt::Task<void> gather(Request& request, Adoption& adoption) {
  datasets::Datasets& datasets = request.parts.datasets;
  const DatasetName& name = adoption.commit.dataset;
  if (adoption.kind == "tars") {
    LEAT_CO_TRY(adoption.commit.add, co_await upkeep::find_tars(datasets, name, adoption.prefix));
    adoption.adopted = adoption.commit.add.size();
    co_return request.may_show(name, adoption.commit.add);
  }
  auto looking = upkeep::find_objects(datasets, name, adoption.prefix, adoption.shard_bytes);
  LEAT_CO_TRY(upkeep::PlainObjects found, co_await std::move(looking));
  LEAT_CO_DO(request.may_show(name, found.keys));
  adoption.adopted = found.keys.size();
  adoption.passed_over = found.passed_over;
  auto writing = upkeep::write_recipes(datasets, name, std::move(found.recipes));
  LEAT_CO_TRY(adoption.commit.add, co_await std::move(writing));
  co_return Status{};
}

}  // namespace

Answer adopt_objects(Request& request) {
  LEAT_CO_DO(request.allow({"adopt"}));
  LEAT_CO_TRY(const json document, co_await request.read_json());
  LEAT_CO_TRY(Adoption adoption, adoption_in(document, request.reference.dataset));
  datasets::Datasets& datasets = request.parts.datasets;
  const auto made = co_await datasets.create(adoption.commit.dataset);
  if (!made && made.error().code() != Errc::conflict) co_return fail(made.error());
  LEAT_CO_DO(co_await gather(request, adoption));
  json answer;
  if (adoption.commit.add.empty()) {
    LEAT_CO_TRY(const Opened last, co_await datasets.open(request.reference));
    answer = json_of(last);
  } else {
    std::vector<Commit> commits;
    commits.push_back(std::move(adoption.commit));
    LEAT_CO_TRY(const auto done, co_await datasets.commit(std::move(commits)));
    answer = json_of(done.front());
  }
  answer["adopted"] = adoption.adopted;
  answer["passed_over"] = adoption.passed_over;
  co_return json_answer(200, answer);
}

Answer vacuum_dataset(Request& request) {
  LEAT_CO_DO(request.allow({"vacuum"}));
  LEAT_CO_TRY(const json document, co_await request.read_json());
  LEAT_CO_DO(check_words(document, {"keep_ms", "dry_run"}));
  upkeep::VacuumOptions options;
  LEAT_CO_DO(take(document, "keep_ms", options.keep_ms));
  LEAT_CO_DO(take(document, "dry_run", options.is_dry));
  const DatasetName& name = request.reference.dataset;
  LEAT_CO_TRY(const auto report, co_await upkeep::vacuum(request.parts.datasets, name, options));
  co_return json_answer(200, {{"dataset", name.text()},
                              {"versions", report.versions},
                              {"objects", report.objects},
                              {"bytes", report.bytes},
                              {"dry_run", options.is_dry}});
}

Answer lint_dataset(Request& request, const Opened& opened) {
  if (opened.ref.version == 0) co_return fail(Errc::not_found, "the dataset has no version yet");
  LEAT_CO_TRY(const std::uint64_t max, request.number("max", kProblems, kProblemsMax));
  LEAT_CO_TRY(const auto report, co_await upkeep::lint(request.parts.datasets, opened, max));
  json problems = json::array();
  for (const upkeep::Problem& problem : report.problems) {
    json one = {{"problem", problem.kind}, {"detail", problem.detail}};
    stored::add_name(one, "shard", problem.shard);
    stored::add_name(one, "name", problem.name);
    problems.push_back(std::move(one));
  }
  co_return json_answer(200, {{"dataset", opened.dataset.text()},
                              {"version", opened.ref.version},
                              {"counts", report.counts},
                              {"problems", std::move(problems)}});
}

Answer rebuild_datasets(Request& request) {
  LEAT_CO_DO(request.allow({"rebuild"}));
  if (request.call->caller.who != s3::Who::operators) {
    co_return fail(Errc::denied, "datasets are rebuilt by who has the operators' token");
  }
  LEAT_CO_TRY(const json document, co_await request.read_json());
  LEAT_CO_DO(check_words(document, {"bucket", "dry_run"}));
  std::string bucket;
  bool is_dry = false;
  LEAT_CO_DO(take(document, "bucket", bucket));
  LEAT_CO_DO(take(document, "dry_run", is_dry));
  std::vector<std::string> buckets;
  if (!bucket.empty()) buckets.push_back(bucket);
  if (bucket.empty()) {
    for (const auto& one : request.parts.s3.store.buckets()->all())
      buckets.push_back(one.name);
  }
  json all = json::array();
  for (const std::string& one : buckets) {
    LEAT_CO_TRY(const auto rebuilt, co_await upkeep::rebuild(request.parts.datasets, one, is_dry));
    for (const upkeep::Rebuilt& dataset : rebuilt) {
      all.push_back({{"dataset", dataset.dataset.text()},
                     {"found_by", word_of(dataset.by)},
                     {"version", dataset.version},
                     {"samples", dataset.samples},
                     {"unknown", dataset.unknown}});
    }
  }
  co_return json_answer(200, {{"datasets", std::move(all)}, {"dry_run", is_dry}});
}

}  // namespace leat::training
