// What is kept beside the versions of a dataset: tags, pins, appends.
#include <fmt/format.h>

#include "datasets/control_keys.h"
#include "datasets/datasets.h"
#include "datasets/vacuumed.h"

namespace leat::datasets {
namespace {

// How often others may be faster before we give up.
constexpr int kRaces = 20;
constexpr std::size_t kKeysAtOnce = 100;
constexpr std::size_t kPage = 1000;

using Kind = control::Operation::Kind;

control::Operation put(std::string key, std::string value) {
  return {.kind = Kind::put, .key = std::move(key), .value = std::move(value)};
}

Status check_holder(std::string_view pin, const Datasets::PinHolder& holder) {
  const std::string owner = owner_of_pin(pin);
  if (holder.may_write || owner.empty() || owner == holder.id) return {};
  return fail(Errc::denied, "the pin is somebody else's");
}

std::unexpected<Error> too_many_races() {
  return fail(Errc::busy, "too many others change the dataset; try again");
}

}  // namespace

rt::Task<bool> Datasets::change_beside(const DatasetName& name, const Head& last,
                                       std::vector<control::Operation> operations) {
  const std::string pointer = pointer_key(name);
  control::Txn txn{.when = {{.key = pointer, .number = last.modified.value()}},
                   .then = std::move(operations)};
  txn.then.push_back(put(pointer, encode(last.ref)));
  LEAT_CO_TRY(const auto done, co_await parts_.control.commit(shard(), std::move(txn)));
  co_return done.held;
}

rt::Task<void> Datasets::check_kept(const Opened& opened) {
  LEAT_CO_TRY(const auto found, co_await parts_.control.get(shard(), vacuumed_key(opened.dataset)));
  if (!found) co_return Status{};
  LEAT_CO_TRY(const Vacuumed vacuumed, decode_vacuumed(found->value));
  if (!vacuumed.is_gone(opened.ref.version)) co_return Status{};
  co_return fail(Errc::not_found, fmt::format("version {} of {} was vacuumed", opened.ref.version,
                                              opened.dataset.text()));
}

rt::Task<void> Datasets::mark(const Opened& opened, control::Operation operation) {
  for (int race = 0; race < kRaces; ++race) {
    // In this order: who vacuums moves the pointer after it has said what goes.
    LEAT_CO_TRY(const Head last, co_await head(opened.dataset));
    LEAT_CO_DO(co_await check_kept(opened));
    std::vector<control::Operation> operations{operation};
    auto changing = change_beside(opened.dataset, last, std::move(operations));
    LEAT_CO_TRY(const bool is_done, co_await std::move(changing));
    if (is_done) co_return Status{};
  }
  co_return too_many_races();
}

rt::Task<void> Datasets::remove_mark(const DatasetName& name, std::string key,
                                     std::string_view what) {
  for (int race = 0; race < kRaces; ++race) {
    LEAT_CO_TRY(const auto found, co_await parts_.control.get(shard(), key));
    if (!found) {
      co_return fail(Errc::not_found, fmt::format("{} has no {}", name.text(), what));
    }
    control::Txn txn{.when = {{.key = key, .number = found->modified.value()}},
                     .then = {{.kind = Kind::erase, .key = key}}};
    LEAT_CO_TRY(const auto done, co_await parts_.control.commit(shard(), std::move(txn)));
    // Else it was set again meanwhile.
    if (done.held) co_return Status{};
  }
  co_return too_many_races();
}

rt::Task<std::vector<Datasets::TagEntry>> Datasets::list_marks(std::string prefix) {
  LEAT_CO_TRY(const auto listing, co_await parts_.control.list(shard(), prefix));
  std::vector<TagEntry> all;
  for (const control::KeyValue& one : listing.entries) {
    LEAT_CO_TRY(const VersionRef ref, decode_pointer(one.value));
    all.push_back({.tag = one.key.substr(prefix.size()), .version = ref.version});
  }
  co_return all;
}

rt::Task<void> Datasets::tag(const Opened& opened, std::string tag) {
  LEAT_CO_DO(check_tag(tag));
  if (opened.ref.version == 0) {
    co_return fail(Errc::not_found, "the dataset has no version yet that could be tagged");
  }
  co_return co_await mark(opened, put(tag_key(opened.dataset, tag), encode(opened.ref)));
}

rt::Task<void> Datasets::remove_tag(DatasetName name, std::string tag) {
  const std::string what = fmt::format("tag {}", tag);
  co_return co_await remove_mark(name, tag_key(name, tag), what);
}

rt::Task<std::vector<Datasets::TagEntry>> Datasets::tags(DatasetName name) {
  co_return co_await list_marks(tag_key(name, ""));
}

rt::Task<control::LeaseId> Datasets::move_pin(const Opened& opened, std::string key,
                                              control::LeaseId lease, const PinHolder& holder) {
  for (int race = 0; race < kRaces; ++race) {
    // In this order, as mark(): who sets the pin as well moves the pointer.
    LEAT_CO_TRY(const Head last, co_await head(opened.dataset));
    LEAT_CO_DO(co_await check_kept(opened));
    LEAT_CO_TRY(const auto before, co_await parts_.control.get(shard(), key));
    if (before) LEAT_CO_DO(check_holder(before->value, holder));
    std::vector<control::Operation> operations{put(key, encode_pin(opened.ref, holder.id))};
    operations.back().lease = lease;
    auto changing = change_beside(opened.dataset, last, std::move(operations));
    LEAT_CO_TRY(const bool is_done, co_await std::move(changing));
    if (is_done) co_return before ? before->lease : control::LeaseId();
  }
  co_return too_many_races();
}

rt::Task<void> Datasets::revoke(control::LeaseId lease) {
  if (lease == control::LeaseId()) co_return Status{};
  static_cast<void>(co_await parts_.control.revoke_lease(shard(), lease));
  co_return Status{};
}

rt::Task<void> Datasets::pin(const Opened& opened, std::string pin, Duration ttl,
                             PinHolder holder) {
  LEAT_CO_DO(check_tag(pin));
  if (opened.ref.version == 0) {
    co_return fail(Errc::not_found, "the dataset has no version yet that could be pinned");
  }
  LEAT_CO_TRY(const control::Lease lease, co_await parts_.control.grant_lease(shard(), ttl));
  auto moving = move_pin(opened, pin_key(opened.dataset, pin), lease.id, holder);
  const auto before = co_await std::move(moving);
  // The pin may have it, or not.
  if (!before && before.error().code() == Errc::outcome_unknown) co_return fail(before.error());
  // A node has room for some thousands of leases: none is left behind.
  const control::LeaseId unused = before ? *before : lease.id;
  LEAT_CO_DO(co_await revoke(unused));
  if (!before) co_return fail(before.error());
  co_return Status{};
}

rt::Task<void> Datasets::remove_pin(DatasetName name, std::string pin, PinHolder holder) {
  const std::string key = pin_key(name, pin);
  for (int race = 0; race < kRaces; ++race) {
    LEAT_CO_TRY(const auto found, co_await parts_.control.get(shard(), key));
    if (!found) {
      co_return fail(Errc::not_found, fmt::format("{} has no pin {}", name.text(), pin));
    }
    LEAT_CO_DO(check_holder(found->value, holder));
    control::Txn txn{.when = {{.key = key, .number = found->modified.value()}},
                     .then = {{.kind = Kind::erase, .key = key}}};
    LEAT_CO_TRY(const auto done, co_await parts_.control.commit(shard(), std::move(txn)));
    if (done.held) co_return co_await revoke(found->lease);
    // Else it was set again meanwhile, maybe by somebody else.
  }
  co_return too_many_races();
}

rt::Task<std::vector<Datasets::TagEntry>> Datasets::pins(DatasetName name) {
  co_return co_await list_marks(pin_key(name, ""));
}

rt::Task<void> Datasets::clear_left_overs(const DatasetName& name) {
  std::vector<std::string> keys = {appends_key(name), vacuumed_key(name)};
  std::vector<control::LeaseId> leases;
  for (const std::string& prefix :
       {tag_key(name, ""), pin_key(name, ""), transaction_key(name, "")}) {
    LEAT_CO_TRY(const auto listing, co_await parts_.control.list(shard(), prefix));
    for (const control::KeyValue& one : listing.entries) {
      keys.push_back(one.key);
      leases.push_back(one.lease);
    }
  }
  while (!keys.empty()) {
    // Not of a dataset that somebody made meanwhile.
    control::Txn txn{.when = {{.key = pointer_key(name), .number = 0}}};
    while (!keys.empty() && txn.then.size() < kKeysAtOnce) {
      txn.then.push_back({.kind = Kind::erase, .key = std::move(keys.back())});
      keys.pop_back();
    }
    LEAT_CO_TRY(const auto done, co_await parts_.control.commit(shard(), std::move(txn)));
    if (!done.held) co_return Status{};
  }
  for (const control::LeaseId lease : leases)
    LEAT_CO_DO(co_await revoke(lease));
  co_return Status{};
}

rt::Task<void> Datasets::restore_pointer(DatasetName name, VersionRef last,
                                         std::vector<control::Operation> beside,
                                         control::Revision before) {
  const std::string pointer = pointer_key(name);
  // A vacuum that is under way does not know what the dataset needs.
  LEAT_CO_TRY(const Doomed seen, co_await doomed(name.bucket));
  if (!seen.objects.empty()) {
    co_return fail(Errc::conflict, fmt::format("a vacuum is not over in {}; vacuum a dataset of it "
                                               "again if it broke off",
                                               name.bucket));
  }
  // Last of all the pointer: who is killed before begins anew.
  beside.push_back(put(pointer, encode(last)));
  for (std::size_t at = 0; at < beside.size(); at += kKeysAtOnce) {
    control::Txn txn{.when = {{.key = pointer, .number = before.value()},
                              {.key = doomed_key(name.bucket), .number = seen.modified.value()}}};
    const std::size_t end = std::min(beside.size(), at + kKeysAtOnce);
    for (std::size_t i = at; i < end; ++i)
      txn.then.push_back(beside[i]);
    LEAT_CO_TRY(const auto done, co_await parts_.control.commit(shard(), std::move(txn)));
    if (!done.held) {
      co_return fail(
          Errc::conflict,
          fmt::format("{} has another pointer by now, or its bucket was vacuumed meanwhile",
                      name.text()));
    }
  }
  co_return Status{};
}

rt::Task<AppendState> Datasets::appends(DatasetName name) {
  for (int race = 0; race < kRaces; ++race) {
    LEAT_CO_TRY(const Head last, co_await head(name));
    LEAT_CO_TRY(const auto found, co_await parts_.control.get(shard(), appends_key(name)));
    if (found) {
      LEAT_CO_TRY(AppendState state, decode_appends(found->value));
      state.modified = found->modified;
      co_return state;
    }
    AppendState fresh{.id = fmt::format("{:016x}", parts_.store.kit().rng.next())};
    std::vector<control::Operation> operations{put(appends_key(name), encode(fresh))};
    LEAT_CO_DO(co_await change_beside(name, last, std::move(operations)));
  }
  co_return too_many_races();
}

rt::Task<std::vector<std::string>> Datasets::pending(const DatasetName& name, AppendState& state) {
  LEAT_CO_TRY(const record::BucketId bucket, find_bucket(name));
  const std::string prefix = append_prefix(name, state);
  std::vector<std::string> producers;
  std::size_t fresh = 0;  // of them, that are not in the state yet
  index::ListRequest folders{.bucket = bucket, .prefix = prefix, .delimiter = "/", .max = kPage};
  for (bool is_more = true; is_more;) {
    LEAT_CO_TRY(const index::ListPage page, co_await parts_.store.list(folders));
    for (const index::ListItem& item : page.items) {
      std::string producer = item.name.substr(prefix.size());
      if (producer.ends_with('/')) producer.pop_back();
      // More than the state of a dataset can hold would keep all from being committed.
      const bool is_known = state.committed.contains(producer);
      const bool has_room = state.committed.size() + fresh < kProducersMax;
      if (check_producer(producer) && (is_known || has_room)) {
        fresh += is_known ? 0 : 1;
        producers.push_back(std::move(producer));
      }
      folders.after = item.name;
    }
    is_more = page.is_truncated;
  }
  std::vector<std::string> keys;
  for (const std::string& producer : producers) {
    std::uint64_t next = state.committed_of(producer) + 1;
    index::ListRequest bodies{.bucket = bucket,
                              .prefix = fmt::format("{}{}/", prefix, producer),
                              .after = append_key(name, state, producer, next - 1),
                              .max = kPage};
    for (bool is_more = true; is_more;) {
      LEAT_CO_TRY(const index::ListPage page, co_await parts_.store.list(bodies));
      is_more = page.is_truncated;
      for (const index::ListItem& item : page.items) {
        bodies.after = item.name;
        if (item.name != append_key(name, state, producer, next)) {
          is_more = false;
          break;
        }
        keys.push_back(item.name);
        state.committed[producer] = next++;
      }
    }
  }
  co_return keys;
}

}  // namespace leat::datasets
