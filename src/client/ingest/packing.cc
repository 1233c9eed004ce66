#include "ingest/packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "ingest/shard_sender.h"

namespace leat::ingest {
namespace {

constexpr int kAttemptsMax = 5;
constexpr std::size_t kReadBytes = kMiB;

using ImagePtr = std::shared_ptr<const ShardImage>;

rt::Task<ImagePtr> make_image(transfer::Tools& tools, const Catalog& catalog,
                              std::vector<GroupId> groups) {
  auto make = [&catalog, groups = std::move(groups)]() -> Result<ImagePtr> {
    return std::make_shared<const ShardImage>(catalog, groups);
  };
  return tools.pool.run<ImagePtr>(std::move(make));
}

}  // namespace

Packing::Packing(std::vector<transfer::Tools*> members, const Catalog& catalog, const Plan& plan,
                 PackOptions options)
    : members_(std::move(members)),
      catalog_(catalog),
      plan_(plan),
      options_(std::move(options)),
      done_(plan.shard_count()),
      workers_(members_.front()->shard) {}

rt::Task<std::vector<PackedShard>> Packing::run() {
  for (transfer::Tools* member : members_) {
    for (std::size_t i = 0; i < options_.shards_at_once; ++i)
      workers_.spawn(work(*member));
  }
  LEAT_CO_DO(co_await workers_.wait());
  co_return std::move(done_);
}

rt::Task<void> Packing::work(transfer::Tools& tools) {
  while (next_ < plan_.shard_count() && !workers_.has_failed()) {
    const std::size_t number = next_++;
    auto make = [this, &tools, number] { return pack(tools, number); };
    auto packing = rt::ask<PackedShard>(home(), tools.shard, std::move(make));
    LEAT_CO_TRY(done_[number], co_await std::move(packing));
  }
  co_return Status{};
}

rt::Task<PackedShard> Packing::pack(transfer::Tools& tools, std::size_t number) {
  PackedShard shard;
  const auto planned = plan_.shard(number);
  std::vector<GroupId> groups(planned.begin(), planned.end());
  for (int attempt = 1; !groups.empty(); ++attempt) {
    LEAT_CO_TRY(const ImagePtr image, co_await make_image(tools, catalog_, groups));
    shard.identity = image->identity();
    shard.key = options_.shard_name.key(options_.prefix, number, shard.identity);
    shard.samples = image->samples();
    shard.size_bytes = image->size_bytes();
    const s3client::ObjectName name{options_.bucket, shard.key};
    const std::size_t bad_before = shard.bad.size();
    LEAT_CO_TRY(const bool is_sent, co_await send(tools, name, *image, shard));
    if (is_sent) co_return shard;
    if (attempt == kAttemptsMax) {
      co_return fail(Errc::conflict, "files change faster than they can be packed");
    }
    std::set<GroupId> out;
    for (std::size_t i = bad_before; i < shard.bad.size(); ++i)
      out.insert(shard.bad[i].group);
    std::erase_if(groups, [&](GroupId id) { return out.contains(id); });
  }
  shard.key.clear();
  shard.samples = 0;
  shard.size_bytes = 0;
  co_return shard;
}

rt::Task<bool> Packing::is_there(transfer::Tools& tools, s3client::ObjectName name,
                                 const ShardImage& image) {
  if (options_.sends_everything) co_return false;
  const auto head = co_await s3client::head_object(tools.client, std::move(name));
  if (!head && head.error().code() == Errc::not_found) co_return false;
  if (!head) co_return fail(head.error());
  co_return head->size_bytes == image.size_bytes();
}

// False if files are bad: they are added to the shard's.
rt::Task<bool> Packing::send(transfer::Tools& tools, s3client::ObjectName name,
                             const ShardImage& image, PackedShard& shard) {
  const s3client::Content content{
      .type = "application/x-tar",
      .metadata = {{"leat-dataset", options_.prefix}}};  // for `leat fsck --rebuild-datasets`
  ShardSender sender(tools, image, name, content);
  LEAT_CO_TRY(shard.was_there, co_await is_there(tools, name, image));
  if (shard.was_there) {
    tools.counters.files_done += image.files_in(0, image.size_bytes());
    tools.counters.bytes_done += image.size_bytes();
    if (!options_.verifies) co_return true;
    LEAT_CO_TRY(const auto checksum, co_await sender.make_checksum());
    // A file that went bad since does not make the stored shard bad.
    if (checksum) LEAT_CO_DO(co_await verify(tools, name, *checksum));
    co_return true;
  }
  std::optional<ShardSender> again;
  auto sent = co_await sender.run();
  if (!sent && sent.error().code() == Errc::not_found) {
    // Its completion was done, and the answer lost: then it is there. Otherwise it begins anew.
    LEAT_CO_TRY(const bool is_complete, co_await is_there(tools, name, image));
    if (is_complete) co_return true;
    again.emplace(tools, image, name, content);
    sent = co_await again->run();
  }
  LEAT_CO_TRY(std::optional<BadGroup> bad, std::move(sent));
  if (bad) {
    LEAT_CO_DO(co_await leave_out(tools, image, std::move(*bad), shard.bad));
    co_return false;
  }
  if (!options_.verifies) co_return true;
  const hash::ChecksumValue checksum = again ? again->checksum() : sender.checksum();
  LEAT_CO_DO(co_await verify(tools, name, checksum));
  co_return true;
}

// Where one file is bad, others may be: all are looked at before the shard is made again.
rt::Task<void> Packing::leave_out(transfer::Tools& tools, const ShardImage& image, BadGroup first,
                                  std::vector<BadGroup>& bad) {
  auto look = [&image, &disk = tools.disk]() -> Result<std::vector<BadGroup>> {
    return image.inspect(disk);
  };
  auto looking = tools.pool.run<std::vector<BadGroup>>(std::move(look));
  LEAT_CO_TRY(auto found, co_await std::move(looking));
  const bool has_first = std::ranges::find(found, first.group, &BadGroup::group) != found.end();
  if (!has_first) found.push_back(std::move(first));
  std::ranges::move(found, std::back_inserter(bad));
  co_return Status{};
}

rt::Task<void> Packing::verify(transfer::Tools& tools, s3client::ObjectName name,
                               const hash::ChecksumValue& checksum) {
  s3client::GetQuery query{.name = name};
  LEAT_CO_TRY(auto response, co_await s3client::open_object(tools.client, std::move(query)));
  LEAT_CO_TRY(const auto lease, co_await tools.memory.lease(kReadBytes));
  hash::Checksum sum(checksum.algorithm());
  while (true) {
    LEAT_CO_TRY(const std::size_t count, co_await response.read(lease.bytes()));
    if (count == 0) break;
    sum.update(Bytes(lease.bytes()).first(count));
  }
  if (sum.finish() == checksum) co_return Status{};
  co_return fail(Errc::corrupt,
                 fmt::format("{}: other bytes came back than were sent", name.text()));
}

}  // namespace leat::ingest
