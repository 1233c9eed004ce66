#include "transfer/download.h"

#include <fmt/format.h>

#include "s3client/refusal.h"
#include "transfer/names.h"
#include "transfer/parted_download.h"

namespace leat::transfer {
namespace {

using s3client::GetQuery;
using s3client::ObjectHead;

// The whole of a small object, verified.
struct Whole {
  MemoryBudget::Lease lease;
  ObjectHead head;
};

Status check(const s3client::ObjectName& name, const ObjectHead& head, Bytes bytes) {
  if (!head.checksum) return {};
  hash::Checksum checksum(head.checksum->algorithm());
  checksum.update(bytes);
  if (checksum.finish() == *head.checksum) return {};
  return fail(damaged(name));
}

// Nothing if it is larger than fits into one piece.
rt::Task<std::optional<Whole>> fetch_once(Tools& tools, s3client::ObjectName name) {
  GetQuery query{.name = name};
  LEAT_CO_TRY(auto response, co_await s3client::open_object(tools.client, std::move(query)));
  ObjectHead head = s3client::head_of(response);
  if (!response.content_length() || head.size_bytes > tools.options.part_bytes) {
    co_return std::optional<Whole>();
  }
  LEAT_CO_TRY(auto lease, co_await tools.memory.lease(head.size_bytes));
  LEAT_CO_DO(co_await read_body(response, lease.bytes()));
  LEAT_CO_DO(check(name, head, lease.bytes()));
  co_return std::optional<Whole>(Whole{std::move(lease), std::move(head)});
}

rt::Task<std::optional<Whole>> fetch(Tools& tools, s3client::ObjectName name) {
  for (std::uint32_t attempt = 1;; ++attempt) {
    auto whole = co_await fetch_once(tools, name);
    if (whole || !may_fetch_again(whole.error(), attempt, tools.options)) co_return whole;
  }
}

struct Written {
  Bytes bytes{};
  WallTime modified{};
  bool is_durable = false;
};

Status write_file(io::Disk& disk, const std::string& path, const Written& what) {
  const std::string part = part_path(path);
  auto opened = open_locked_part(disk, path);
  if (!opened && opened.error().code() == Errc::not_found) {
    LEAT_DO(make_folders(disk, path, what.is_durable));
    opened = open_locked_part(disk, path);
  }
  LEAT_TRY(const auto file, std::move(opened));
  LEAT_DO(file->truncate(0));
  LEAT_DO(file->write_all_at(0, what.bytes));
  LEAT_DO(file->set_modified(what.modified));
  if (what.is_durable) LEAT_DO(file->sync_data());
  LEAT_DO(disk.rename(part, path));
  if (what.is_durable) LEAT_DO(sync_name(disk, path));
  return {};
}

}  // namespace

Error damaged(const s3client::ObjectName& name) {
  return {Errc::corrupt,
          fmt::format("{}: the bytes that arrived do not give the object's checksum; run the "
                      "command again, and `leat fsck` on the node if it stays so",
                      name.text())};
}

WallTime file_time(const Listed& listed, const ObjectHead& head) {
  const bool is_same = listed.modified != WallTime{} && listed.etag == head.etag;
  return is_same ? listed.modified : head.modified;
}

bool may_fetch_again(const Error& error, std::uint32_t attempt, const TransferOptions& options) {
  const bool may_pass = s3client::is_transient(error) || error.code() == Errc::corrupt;
  return may_pass && attempt < options.body_attempts_max;
}

rt::Task<void> read_body(httpclient::Response& response, MutableBytes target) {
  while (!target.empty()) {
    LEAT_CO_TRY(const std::size_t count, co_await response.read(target));
    if (count == 0) co_return fail(Errc::closed, "the answer is shorter than it said");
    target = target.subspan(count);
  }
  co_return Status{};
}

Status make_folders(io::Disk& disk, const std::string& path, bool is_durable) {
  const std::string folder = parent_of(path);
  return is_durable ? disk.make_durable_directories(folder) : disk.make_directories(folder);
}

Status make_durable(io::Disk& disk, const std::string& path) {
  LEAT_TRY(const auto file, disk.open(path, io::OpenMode::read));
  LEAT_DO(file->sync_data());
  return sync_name(disk, path);
}

rt::Task<Fetched> download_file(Tools& tools, DownloadJob job) {
  if (job.size_bytes <= tools.options.part_bytes) {
    LEAT_CO_TRY(const auto whole, co_await fetch(tools, job.source));
    if (whole) {
      const WallTime modified = file_time(job.listed, whole->head);
      const Written what{whole->lease.bytes(), modified, job.is_durable};
      auto work = [&disk = tools.disk, path = job.path, what] {
        return write_file(disk, path, what);
      };
      auto writing = tools.pool.run<void>(std::move(work));
      LEAT_CO_DO(co_await std::move(writing));
      tools.counters.moved(what.bytes.size());
      Fetched fetched{what.bytes.size(), whole->head.etag};
      co_return fetched;
    }
  }
  LEAT_CO_TRY(ObjectHead head, co_await s3client::head_object(tools.client, job.source));
  Fetched fetched{head.size_bytes, head.etag};
  PartedDownload parted(tools, std::move(job), std::move(head));
  LEAT_CO_DO(co_await parted.run());
  co_return fetched;
}

rt::Task<std::uint64_t> download_stream(Tools& tools, s3client::ObjectName source, ByteSink& sink) {
  LEAT_CO_TRY(const auto lease, co_await tools.memory.lease(256 * kKiB));
  std::optional<ObjectHead> head;
  std::optional<hash::Checksum> checksum;
  std::uint64_t done = 0;
  for (std::uint32_t attempt = 1;; ++attempt) {
    GetQuery query{.name = source, .offset = done, .etag = head ? head->etag : ""};
    LEAT_CO_TRY(auto response, co_await s3client::open_object(tools.client, std::move(query)));
    if (!head) {
      head = s3client::head_of(response);
      if (head->checksum) checksum.emplace(head->checksum->algorithm());
    }
    Status broke;
    while (true) {
      const auto count = co_await response.read(lease.bytes());
      if (!count) broke = fail(count.error());
      if (!count || *count == 0) break;
      const Bytes bytes = Bytes(lease.bytes()).first(*count);
      if (checksum) checksum->update(bytes);
      LEAT_CO_DO(co_await sink.write(bytes));
      done += *count;
      tools.counters.moved(*count);
    }
    if (broke) break;
    if (!may_fetch_again(broke.error(), attempt, tools.options)) {
      co_return fail(std::move(broke).error());
    }
    if (done == head->size_bytes) break;
  }
  if (checksum && checksum->finish() != *head->checksum) co_return fail(damaged(source));
  co_return done;
}

}  // namespace leat::transfer
