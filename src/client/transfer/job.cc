#include "transfer/job.h"

#include <fmt/format.h>

#include <optional>

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

// Removes a file whose bytes were sent, if it still has them.
// Errors: conflict, when it was changed or replaced meanwhile.
rt::Task<void> remove_sent(Tools& tools, std::string path, const io::FileInfo& sent) {
  auto work = [&disk = tools.disk, path = std::move(path), sent]() -> Status {
    LEAT_TRY(const io::FileInfo now, disk.info(path));
    if (is_same_version(now, sent)) return disk.remove(path);
    return fail(
        Errc::conflict,
        fmt::format("{} changed after it was sent; it stays, and so does what was sent", path));
  };
  return tools.pool.run<void>(std::move(work));
}

// Removes an object whose bytes are at their new place, if it still has them.
// Errors: conflict, when it was replaced meanwhile.
rt::Task<void> remove_moved(Tools& tools, s3client::ObjectName name, std::string etag) {
  const Status removed = co_await s3client::delete_object(tools.client, name, std::move(etag));
  if (removed) co_return Status{};
  // Gone is gone: an attempt whose answer was lost may have done it.
  if (removed.error().code() == Errc::not_found) co_return Status{};
  if (removed.error().code() != Errc::precondition_failed) co_return fail(removed.error().clone());
  // Services that know no such key may call it a failed condition.
  const auto head = co_await head_object(tools.client, name);
  if (!head && head.error().code() == Errc::not_found) co_return Status{};
  co_return fail(Errc::conflict,
                 fmt::format("{}: the object was replaced while it was moved; the new one stays, "
                             "and so does what was moved",
                             name.text()));
}

Outcome skipped(Tools& tools, const Job& job) {
  tools.counters.bytes_done += job.size_bytes;
  return {.size_bytes = job.size_bytes, .is_skipped = true};
}

Outcome only_looked(Tools& tools, const Job& job) {
  tools.counters.bytes_done += job.size_bytes;
  return {.size_bytes = job.size_bytes};
}

// The file whose bytes the object has; nothing if it has others, or is not there.
rt::Task<std::optional<io::FileInfo>> find_sent(Tools& tools, const Job& job) {
  auto head = co_await head_object(tools.client, job.target);
  if (!head) {
    if (head.error().code() == Errc::not_found) co_return std::optional<io::FileInfo>();
    co_return fail(std::move(head).error());
  }
  LEAT_CO_TRY(OpenFile open, co_await open_file(tools, job.path));
  const io::FileInfo info = open.info;
  LEAT_CO_TRY(const bool same, co_await has_content(tools, std::move(open), *head));
  co_return same ? std::optional(info) : std::nullopt;
}

// The ETag of the object whose bytes the file has; nothing if it has others, or is not there. Such
// a file also gets the object's time, so that the next run need not look inside.
rt::Task<std::optional<std::string>> find_fetched(Tools& tools, const Job& job) {
  const std::optional<std::string> nothing;
  LEAT_CO_TRY(const ObjectHead head, co_await head_object(tools.client, job.source));
  auto open = co_await open_file(tools, job.path);
  if (!open) {
    if (open.error().code() == Errc::not_found) co_return nothing;
    co_return fail(std::move(open).error());
  }
  LEAT_CO_TRY(const bool same, co_await has_content(tools, std::move(*open), head));
  if (!same) co_return nothing;
  if (job.is_dry) co_return std::optional(head.etag);
  const WallTime modified = file_time({job.etag, job.modified}, head);
  auto work = [&disk = tools.disk, path = job.path, modified]() -> Status {
    LEAT_TRY(const auto file, disk.open(path, io::OpenMode::read_write));
    return file->set_modified(modified);
  };
  auto setting = tools.pool.run<void>(std::move(work));
  const Status set = co_await std::move(setting);
  (void)set;  // a file that may not be written has the right bytes all the same
  co_return std::optional(head.etag);
}

// The ETag of the source if both objects are known to have the same bytes.
rt::Task<std::optional<std::string>> find_copied(Tools& tools, const Job& job) {
  const std::optional<std::string> nothing;
  LEAT_CO_TRY(const ObjectHead from, co_await head_object(tools.client, job.source));
  auto to = co_await head_object(tools.client, job.target);
  if (!to) {
    if (to.error().code() == Errc::not_found) co_return nothing;
    co_return fail(std::move(to).error());
  }
  const bool same =
      from.size_bytes == to->size_bytes && from.checksum && from.checksum == to->checksum;
  co_return same ? std::optional(from.etag) : nothing;
}

rt::Task<Outcome> put(Tools& tools, Job job) {
  if (job.compare_first) {
    LEAT_CO_TRY(const auto there, co_await find_sent(tools, job));
    if (there) {
      const bool moves = job.remove_source && !job.is_dry;
      if (moves) LEAT_CO_DO(co_await remove_sent(tools, job.path, *there));
      co_return skipped(tools, job);
    }
  }
  if (job.is_dry) co_return only_looked(tools, job);
  UploadJob upload{job.path, job.size_bytes, job.target, job.content};
  LEAT_CO_TRY(const Sent sent, co_await upload_file(tools, std::move(upload)));
  if (job.remove_source) LEAT_CO_DO(co_await remove_sent(tools, job.path, sent.info));
  Outcome outcome{.size_bytes = sent.size_bytes};
  co_return outcome;
}

rt::Task<Outcome> get(Tools& tools, Job job) {
  std::optional<std::string> there;
  if (job.compare_first) {
    LEAT_CO_TRY(there, co_await find_fetched(tools, job));
  }
  if (job.is_dry) co_return there ? skipped(tools, job) : only_looked(tools, job);
  Outcome outcome;
  if (there) {
    outcome = skipped(tools, job);
    if (job.remove_source) {
      auto work = [&disk = tools.disk, path = job.path] { return make_durable(disk, path); };
      auto syncing = tools.pool.run<void>(std::move(work));
      LEAT_CO_DO(co_await std::move(syncing));
    }
  } else {
    DownloadJob download{.source = job.source, .size_bytes = job.size_bytes, .path = job.path};
    download.is_durable = job.remove_source;
    download.listed = {job.etag, job.modified};
    LEAT_CO_TRY(Fetched fetched, co_await download_file(tools, std::move(download)));
    outcome.size_bytes = fetched.size_bytes;
    there = std::move(fetched.etag);
  }
  if (job.remove_source) LEAT_CO_DO(co_await remove_moved(tools, job.source, std::move(*there)));
  co_return outcome;
}

rt::Task<Outcome> copy(Tools& tools, Job job) {
  std::optional<std::string> there;
  if (job.compare_first) {
    LEAT_CO_TRY(there, co_await find_copied(tools, job));
  }
  if (job.is_dry) co_return there ? skipped(tools, job) : only_looked(tools, job);
  Outcome outcome{.size_bytes = job.size_bytes};
  if (there) {
    outcome = skipped(tools, job);
  } else {
    CopyJob work{job.source, job.target, job.size_bytes, job.etag};
    LEAT_CO_DO(co_await copy_on_service(tools, std::move(work)));
    there = job.etag;
  }
  if (job.remove_source) LEAT_CO_DO(co_await remove_moved(tools, job.source, std::move(*there)));
  co_return outcome;
}

rt::Task<Outcome> remove(Tools& tools, Job job) {
  Outcome outcome;
  if (job.is_dry) co_return outcome;
  auto removing = s3client::delete_objects(tools.client, job.target.bucket, std::move(job.keys),
                                           std::move(job.versions));
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
