#include "transfer/job.h"

#include <fmt/format.h>

#include "transfer/content.h"
#include "transfer/copy.h"
#include "transfer/download.h"
#include "transfer/upload.h"

namespace leat::transfer {
namespace {

using s3client::head_object;
using s3client::ObjectHead;

rt::Task<void> remove_file(Tools& tools, std::string path) {
  auto work = [&disk = tools.disk, path = std::move(path)] { return disk.remove(path); };
  return tools.pool.run<void>(std::move(work));
}

Outcome skipped(Tools& tools, const Job& job) {
  tools.counters.bytes_done += job.size_bytes;
  return {.size_bytes = job.size_bytes, .is_skipped = true};
}

Outcome only_looked(Tools& tools, const Job& job) {
  tools.counters.bytes_done += job.size_bytes;
  return {.size_bytes = job.size_bytes};
}

// True if the object is there with the file's bytes.
rt::Task<bool> is_sent(Tools& tools, const Job& job) {
  auto head = co_await head_object(tools.client, job.target);
  if (!head) {
    if (head.error().code() == Errc::not_found) co_return false;
    co_return fail(std::move(head).error());
  }
  co_return co_await has_content(tools, job.path, *head);
}

// True if the file is there with the object's bytes; then it also gets its time, so that the next
// run need not look inside.
rt::Task<bool> is_fetched(Tools& tools, const Job& job) {
  LEAT_CO_TRY(const ObjectHead head, co_await head_object(tools.client, job.source));
  auto same = co_await has_content(tools, job.path, head);
  if (!same && same.error().code() == Errc::not_found) co_return false;
  if (!same || !*same) co_return same;
  auto work = [&disk = tools.disk, path = job.path, modified = head.modified]() -> Status {
    LEAT_TRY(const auto file, disk.open(path, io::OpenMode::read_write));
    return file->set_modified(modified);
  };
  auto setting = tools.pool.run<void>(std::move(work));
  const Status set = co_await std::move(setting);
  (void)set;  // a file that may not be written has the right bytes all the same
  co_return true;
}

// True if both objects are known to have the same bytes.
rt::Task<bool> is_copied(Tools& tools, const Job& job) {
  LEAT_CO_TRY(const ObjectHead from, co_await head_object(tools.client, job.source));
  auto to = co_await head_object(tools.client, job.target);
  if (!to) {
    if (to.error().code() == Errc::not_found) co_return false;
    co_return fail(std::move(to).error());
  }
  co_return from.size_bytes == to->size_bytes&& from.checksum&& from.checksum == to->checksum;
}

rt::Task<Outcome> put(Tools& tools, Job job) {
  if (job.compare_first) {
    LEAT_CO_TRY(const bool there, co_await is_sent(tools, job));
    if (there) {
      const bool moves = job.remove_source && !job.is_dry;
      if (moves) LEAT_CO_DO(co_await remove_file(tools, job.path));
      co_return skipped(tools, job);
    }
  }
  if (job.is_dry) co_return only_looked(tools, job);
  UploadJob upload{job.path, job.size_bytes, job.target, job.content};
  LEAT_CO_TRY(const std::uint64_t size, co_await upload_file(tools, std::move(upload)));
  if (job.remove_source) LEAT_CO_DO(co_await remove_file(tools, job.path));
  Outcome outcome{.size_bytes = size};
  co_return outcome;
}

rt::Task<Outcome> get(Tools& tools, Job job) {
  bool there = false;
  if (job.compare_first) {
    LEAT_CO_TRY(there, co_await is_fetched(tools, job));
  }
  if (job.is_dry) co_return there ? skipped(tools, job) : only_looked(tools, job);
  Outcome outcome;
  if (there) {
    outcome = skipped(tools, job);
  } else {
    DownloadJob download{job.source, job.size_bytes, job.path};
    LEAT_CO_TRY(outcome.size_bytes, co_await download_file(tools, std::move(download)));
  }
  if (job.remove_source) LEAT_CO_DO(co_await s3client::delete_object(tools.client, job.source));
  co_return outcome;
}

rt::Task<Outcome> copy(Tools& tools, Job job) {
  bool there = false;
  if (job.compare_first) {
    LEAT_CO_TRY(there, co_await is_copied(tools, job));
  }
  if (job.is_dry) co_return there ? skipped(tools, job) : only_looked(tools, job);
  Outcome outcome{.size_bytes = job.size_bytes};
  if (there) {
    outcome = skipped(tools, job);
  } else {
    CopyJob work{job.source, job.target, job.size_bytes, job.etag};
    LEAT_CO_DO(co_await copy_on_service(tools, std::move(work)));
  }
  if (job.remove_source) LEAT_CO_DO(co_await s3client::delete_object(tools.client, job.source));
  co_return outcome;
}

rt::Task<Outcome> remove(Tools& tools, Job job) {
  Outcome outcome;
  if (job.is_dry) co_return outcome;
  auto removing = s3client::delete_objects(tools.client, job.target.bucket, std::move(job.keys));
  LEAT_CO_TRY(outcome.failed, co_await std::move(removing));
  co_return outcome;
}

}  // namespace

std::string describe(const Job& job) {
  switch (job.action) {
    case Action::put: return fmt::format("put {} → {}", job.path, job.target.text());
    case Action::get: return fmt::format("get {} → {}", job.source.text(), job.path);
    case Action::copy: return fmt::format("copy {} → {}", job.source.text(), job.target.text());
    case Action::remove_file: return fmt::format("remove {}", job.path);
    case Action::remove: break;
  }
  if (job.keys.size() == 1) return fmt::format("remove {}/{}", job.target.bucket, job.keys[0]);
  return fmt::format("remove {} objects of {}", job.keys.size(), job.target.bucket);
}

rt::Task<Outcome> execute(Tools& tools, Job job) {
  switch (job.action) {
    case Action::put: co_return co_await put(tools, std::move(job));
    case Action::get: co_return co_await get(tools, std::move(job));
    case Action::copy: co_return co_await copy(tools, std::move(job));
    case Action::remove: co_return co_await remove(tools, std::move(job));
    case Action::remove_file: break;
  }
  if (!job.is_dry) LEAT_CO_DO(co_await remove_file(tools, job.path));
  co_return Outcome{};
}

}  // namespace leat::transfer
