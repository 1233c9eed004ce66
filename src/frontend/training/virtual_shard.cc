// Virtual shards: the samples that a version has of one of its shards, as a tar.
#include <fmt/format.h>

#include <charconv>

#include "http/representation.h"
#include "stored/body.h"
#include "tar/writer.h"
#include "training/request.h"

namespace leat::training {
namespace {

using datasets::Opened;

constexpr std::string_view kFolder = "shards/";
constexpr std::string_view kSuffix = ".tar";

// "shards/000012.tar". Errors: not_found.
Result<std::uint32_t> number_in(std::string_view inside) {
  const auto unknown = [] {
    return fail(Errc::not_found, "a version has shards/000000.tar and so on");
  };
  if (!inside.starts_with(kFolder) || !inside.ends_with(kSuffix)) return unknown();
  inside.remove_prefix(kFolder.size());
  inside.remove_suffix(kSuffix.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), number);
  // One name each, so that caches have one.
  if (error != std::errc() || fmt::format("{:06}", number) != inside) return unknown();
  return number;
}

// The object that holds the shard, as it was committed. Who wrote the snapshot may have named
// anything: the caller must be able to read it.
rt::Task<store::Found> find_shard(Request& request, const snapshot::ShardEntry& entry) {
  shards::ObjectName name{.bucket = entry.bucket, .key = entry.key, .etag = entry.etag};
  if (!entry.is_recipe) name.size_bytes = entry.size_bytes;
  co_return co_await find_readable(*request.call, std::move(name));
}

// A recipe is an object like others: it gives nobody what it names.
Status may_read_all(const Request& request, std::string_view bucket, const shard::Recipe& recipe) {
  for (const shard::Ingredient& one : recipe.members) {
    if (request.call->may(access::Action::get_object, bucket, one.key)) continue;
    return fail(Errc::denied, fmt::format("this key may not read {}/{}", bucket, one.key));
  }
  return {};
}

}  // namespace

Answer read_virtual_shard(Request& request, const Opened& opened) {
  LEAT_CO_DO(request.allow({}));
  LEAT_CO_TRY(const std::uint32_t number, number_in(request.inside));
  if (number >= opened.record.shards) {
    co_return fail(Errc::not_found, fmt::format("the version has {} shards", opened.record.shards));
  }
  LEAT_CO_TRY(const auto reader, co_await request.parts.datasets.reader(opened));
  LEAT_CO_TRY(const snapshot::ShardEntry entry, reader->catalog().shard(number));
  LEAT_CO_TRY(const shards::Ranges ranges, co_await reader->samples_of(number));
  const std::uint64_t inside = shards::total_bytes(ranges);
  const std::string etag = fmt::format("\"{}-{}\"", reader->fingerprint(), number);
  const http::Representation selected{
      .etag = etag,
      .modified = WallTime(std::chrono::milliseconds(opened.record.committed_ms)),
      .size_bytes = inside + tar::kEndBytes,
      .content_type = "application/x-tar"};
  LEAT_CO_TRY(http::ReadAnswer answer, http::answer_read(request.exchange.head, selected));
  answer.response.add_checked(fmt::format("x-leat-dataset-version: {}\r\n", opened.ref.version));
  // Also for a HEAD: it tells what a GET would.
  LEAT_CO_TRY(store::Found found, co_await find_shard(request, entry));
  if (!answer.range) co_return std::move(answer.response);
  const std::uint64_t end = answer.range->offset + answer.range->length;
  std::string tail;
  if (end > inside) tail.assign(end - std::max(inside, answer.range->offset), '\0');
  shards::Ranges wanted = shards::cut(ranges, answer.range->offset, answer.range->length);
  store::ShardStore& store = request.parts.s3.store;
  if (entry.is_recipe) {
    LEAT_CO_TRY(const shards::RecipePtr recipe, co_await shards::load_recipe(store, found));
    if (recipe->layout.size_bytes != entry.size_bytes) {
      co_return fail(Errc::corrupt, "a snapshot and the recipe of its shard differ");
    }
    LEAT_CO_DO(may_read_all(request, entry.bucket, recipe->recipe));
    stored::set_body(
        answer.response,
        std::make_unique<shards::RecipeSource>(store, recipe, std::move(wanted), std::move(tail)),
        answer.range->length);
  } else {
    stored::set_body(answer.response,
                     std::make_unique<shards::RangesSource>(store, std::move(found),
                                                            std::move(wanted), std::move(tail)),
                     answer.range->length);
  }
  co_return std::move(answer.response);
}

}  // namespace leat::training
