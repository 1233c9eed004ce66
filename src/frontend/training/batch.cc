// Batches: who may have which item, and the answer.
#include <fmt/format.h>

#include "s3/acl.h"
#include "s3/permission.h"
#include "training/batch_body.h"
#include "training/batch_places.h"
#include "training/calls.h"

namespace leat::training {

Status admit(const s3::Call& call, const shards::ObjectName& name, const record::Version* version) {
  const s3::Wanted wanted{
      .action = access::Action::get_object, .bucket = name.bucket, .key = name.key};
  const s3::Grant grant = s3::grant_of(call, wanted);
  const bool is_public = version != nullptr && s3::is_public(*version);
  if (grant == s3::Grant::refused || (grant == s3::Grant::if_public && !is_public)) {
    return fail(Errc::denied, fmt::format("{}/{} may not be read", name.bucket, name.key));
  }
  if (version != nullptr) return {};
  // Who may not list must not learn what is there.
  if (!call.may(access::Action::list_bucket, name.bucket, name.key)) {
    return fail(Errc::denied, fmt::format("{}/{} may not be read", name.bucket, name.key));
  }
  return fail(Errc::not_found, fmt::format("there is no {}/{}", name.bucket, name.key));
}

rt::Task<store::Found> find_readable(const s3::Call& call, shards::ObjectName name) {
  const auto bucket = call.store().find_bucket(name.bucket);
  Result<store::Found> found = fail(Errc::not_found);
  if (bucket) {
    record::ObjectKey object{.bucket = bucket->id, .key = name.key};
    found = co_await call.store().find(std::move(object));
  }
  if (!found && found.error().code() != Errc::not_found) co_return fail(found.error());
  LEAT_CO_DO(admit(call, name, found ? &found->version : nullptr));
  LEAT_CO_DO(name.check_is(found->version));
  co_return found;
}

namespace {

rt::Task<void> place_dataset(const Parts& parts, const s3::Call& call, ParsedBatch& batch,
                             std::uint32_t number) {
  const datasets::Reference& reference = batch.datasets[number];
  const datasets::DatasetName& name = reference.dataset;
  if (!call.may(access::Action::get_object, name.bucket, name.name + "/")) {
    co_return fail(Errc::denied, fmt::format("{} may not be read", name.text()));
  }
  LEAT_CO_TRY(const datasets::Opened opened, co_await parts.datasets.open(reference));
  if (opened.ref.version == 0) {
    co_return fail(Errc::not_found, fmt::format("{} has no version yet", name.text()));
  }
  LEAT_CO_TRY(const auto reader, co_await parts.datasets.reader(opened));
  co_return co_await place_items(batch, number, *reader, call);
}

// Turns samples of datasets into places of shards. A dataset that cannot be read fails its own
// items only, unless the first failure is to be the answer.
rt::Task<void> place_all(const Parts& parts, const s3::Call& call, ParsedBatch& batch) {
  for (std::uint32_t i = 0; i < batch.datasets.size(); ++i) {
    const Status placed = co_await place_dataset(parts, call, batch, i);
    if (placed) continue;
    if (batch.on_error == OnError::fail) co_return fail(placed.error());
    for (const OfDataset& one : batch.of_datasets) {
      if (one.dataset == i) batch.request.items[one.item].set_failed(placed.error());
    }
  }
  co_return Status{};
}

}  // namespace

Answer read_batch(const Parts& parts, http::Exchange& exchange) {
  const auto call = call_of(parts, exchange);
  store::ShardStore& store = parts.s3.store;
  LEAT_CO_TRY(const std::string text, co_await read_body(*call, kRequestMaxBytes));
  // A hundred thousand items take a while to read.
  auto parsing = store.kit().pool.run<ParsedBatch>([&text] { return parse_batch(text); });
  LEAT_CO_TRY(ParsedBatch batch, co_await std::move(parsing));
  LEAT_CO_DO(co_await place_all(parts, *call, batch));
  auto reader = std::make_unique<shards::BatchReader>(
      store, parts.s3.indexes, std::move(batch.request),
      [call](const shards::ObjectName& name, const record::Version* version) {
        return admit(*call, name, version);
      });
  LEAT_CO_TRY(const auto first, co_await reader->next());
  if (batch.on_error == OnError::fail) {
    // As long as nothing was sent, an error is an answer of its own.
    for (const shards::BatchReader::Outcome& one : first) {
      if (one.status) continue;
      co_return fail(one.status.error().code(),
                     fmt::format("item {}: {}", one.item, one.status.error().detail()));
    }
  }
  co_return batch_answer(std::move(reader), first, batch.on_error, batch.format, call);
}

}  // namespace leat::training
