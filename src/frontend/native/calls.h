// The calls of the native API, one function each. Errors become JSON answers.
#pragma once

#include "http/exchange.h"
#include "http/response.h"
#include "keys/key_store.h"
#include "store/shard_store.h"

namespace leat::native {

constexpr std::string_view kBuckets = "/_/v1/buckets";
constexpr std::string_view kObjects = "/_/v1/objects/";
constexpr std::string_view kList = "/_/v1/list/";
constexpr std::string_view kDisks = "/_/v1/disks";
constexpr std::string_view kKeys = "/_/v1/keys";

using Answer = rt::Task<http::Response>;

Answer list_buckets(store::ShardStore& store, http::Exchange& exchange);
Answer create_bucket(store::ShardStore& store, http::Exchange& exchange);
Answer remove_bucket(store::ShardStore& store, http::Exchange& exchange);
Answer list_objects(store::ShardStore& store, http::Exchange& exchange);
Answer read_object(store::ShardStore& store, http::Exchange& exchange);
Answer write_object(store::ShardStore& store, http::Exchange& exchange);
Answer remove_object(store::ShardStore& store, http::Exchange& exchange);
Answer change_object(store::ShardStore& store, http::Exchange& exchange);
Answer list_disks(store::ShardStore& store, http::Exchange& exchange);
Answer add_disk(store::ShardStore& store, store::DiskKeeper& keeper, http::Exchange& exchange);
Answer remove_disk(store::ShardStore& store, store::DiskKeeper& keeper, http::Exchange& exchange);
Answer list_keys(store::ShardStore& store, keys::KeyStore& keys, http::Exchange& exchange);
Answer create_key(store::ShardStore& store, keys::KeyStore& keys, http::Exchange& exchange);
Answer remove_key(store::ShardStore& store, keys::KeyStore& keys, http::Exchange& exchange);

// "NAME/KEY" as it stands in a path or query, decoded. Errors: bad_request, not_found.
Result<record::ObjectKey> parse_object(const store::ShardStore& store, std::string_view text);

// A whole body of at most `max` bytes. Errors: too_large, and those of the body.
rt::Task<std::string> read_text(http::RequestBody& body, std::size_t max);

}  // namespace leat::native
