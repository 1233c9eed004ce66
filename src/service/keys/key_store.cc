#include "keys/key_store.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::keys {
namespace {

constexpr std::string_view kLatch = "keys";

// 20 characters, as clients are used to: LEAT and 16 of A–Z and 2–7.
std::string fresh_id(io::Rng& rng) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string id = "LEAT";
  for (int i = 0; i < 16; ++i)
    id += kLetters[rng.below(kLetters.size())];
  return id;
}

// 160 bits, without characters that a shell or a URL would mind.
std::string fresh_secret(io::Rng& rng) {
  const std::uint64_t first = rng.next();
  const std::uint64_t second = rng.next();
  return fmt::format("{:016x}{:016x}{:08x}", first, second, rng.next() >> 32);
}

}  // namespace

rt::Task<void> ShardKeys::take(KeyTablePtr table) {
  table_ = std::move(table);
  co_return Status{};
}

Key KeyStore::make_key(NewKey wanted) {
  return {.id = fresh_id(rng_),
          .secret = fresh_secret(rng_),
          .name = std::move(wanted.name),
          .rules = std::move(wanted.rules),
          .created_ms = wanted.created_ms,
          .expires_ms = wanted.expires_ms};
}

Status KeyStore::write(const std::string& text) {
  const std::string fresh = path_ + ".new";
  if (disk_.info(fresh)) LEAT_DO(disk_.remove(fresh));
  LEAT_TRY(const auto file, disk_.open(fresh, io::OpenMode::create_private));
  LEAT_DO(file->write_all_at(0, as_bytes(text)));
  LEAT_DO(file->sync_data());
  LEAT_DO(disk_.rename(fresh, path_));
  return disk_.sync_directory(path_.substr(0, path_.rfind('/')));
}

Result<std::shared_ptr<const Key>> KeyStore::open(std::int64_t now_ms) {
  auto text = io::read_text(disk_, path_);
  if (text) {
    auto table = decode(*text);
    if (!table) {
      return fail(table.error().code(), fmt::format("{}: {}", path_, table.error().detail()));
    }
    first_ = std::make_shared<const KeyTable>(std::move(*table));
    return nullptr;
  }
  // Only keys that are not there are made; a file that cannot be read must not be replaced.
  if (text.error().code() != Errc::not_found) return fail(std::move(text).error());
  NewKey wanted{.name = "first", .created_ms = now_ms};
  wanted.rules.push_back({.bucket = "*", .rights = {std::begin(kRights), std::end(kRights)}});
  std::vector<Key> keys;
  keys.push_back(make_key(std::move(wanted)));
  first_ = std::make_shared<const KeyTable>(fresh_secret(rng_), std::move(keys));
  LEAT_DO(write(encode(*first_)));
  return first_->all().front();
}

void KeyStore::add(rt::Shard& shard, rt::BlockingPool& pool) {
  pool_ = &pool;
  shards_.push_back(std::make_unique<ShardKeys>(shard, first_));
}

std::vector<Key> KeyStore::present() const {
  std::vector<Key> keys;
  for (const auto& key : shards_.front()->table()->all())
    keys.push_back(*key);
  return keys;
}

rt::Task<Key> KeyStore::create(NewKey wanted, rt::Shard& from) {
  auto created = rt::ask<Key>(from, shards_.front()->shard(),
                              [this, &wanted] { return create_at_desk(std::move(wanted)); });
  co_return co_await std::move(created);
}

rt::Task<void> KeyStore::revoke(std::string id, rt::Shard& from) {
  auto revoked = rt::ask<void>(from, shards_.front()->shard(),
                               [this, &id] { return revoke_at_desk(std::move(id)); });
  co_return co_await std::move(revoked);
}

rt::Task<Key> KeyStore::create_at_desk(NewKey wanted) {
  LEAT_CO_TRY(const auto held, co_await changing_.acquire(std::string(kLatch)));
  std::vector<Key> keys = present();
  if (keys.size() >= kKeysMax) co_return fail(Errc::conflict, "there are too many keys");
  Key made = make_key(std::move(wanted));
  keys.push_back(made);
  LEAT_CO_DO(co_await publish(std::move(keys)));
  co_return made;
}

rt::Task<void> KeyStore::revoke_at_desk(std::string id) {
  LEAT_CO_TRY(const auto held, co_await changing_.acquire(std::string(kLatch)));
  std::vector<Key> keys = present();
  if (std::erase_if(keys, [&id](const Key& key) { return key.id == id; }) == 0) {
    co_return fail(Errc::not_found, fmt::format("no access key '{}'", id));
  }
  co_return co_await publish(std::move(keys));
}

rt::Task<void> KeyStore::publish(std::vector<Key> keys) {
  rt::Shard& desk = shards_.front()->shard();
  const KeyTablePtr table =
      std::make_shared<const KeyTable>(shards_.front()->table()->seal(), std::move(keys));
  const std::string text = encode(*table);
  auto written = pool_->run<void>([this, &text] { return write(text); });
  LEAT_CO_DO(co_await std::move(written));
  for (const auto& one : shards_) {
    ShardKeys& keys_there = *one;
    auto taken =
        rt::ask<void>(desk, one->shard(), [&keys_there, &table] { return keys_there.take(table); });
    LEAT_CO_DO(co_await std::move(taken));
  }
  co_return Status{};
}

}  // namespace leat::keys
