#include <fmt/format.h>

#include <unordered_set>

#include "ingest/gathering.h"
#include "shard/sample_name.h"
#include "tar/scanner.h"

namespace leat::ingest {
namespace {

constexpr std::size_t kReadBytes = kMiB;
// Members that are larger are passed over without reading them.
constexpr std::uint64_t kSkipMinBytes = 256 * kKiB;

struct Scanned {
  io::FileInfo info{};
  std::vector<tar::Member> members{};
};

Result<Scanned> scan(io::Disk& disk, const std::string& path) {
  LEAT_TRY(const auto file, disk.open(path, io::OpenMode::read));
  Scanned scanned;
  LEAT_TRY(scanned.info, file->info());
  if (scanned.info.is_directory) return fail(Errc::bad_request, path + " is a folder, no tar");
  tar::Scanner scanner([&](const tar::Member& member) { scanned.members.push_back(member); });
  std::vector<std::byte> buffer(kReadBytes);
  std::uint64_t at = 0;
  while (at < scanned.info.size_bytes) {
    const std::uint64_t left = scanned.info.size_bytes - at;
    if (const std::uint64_t ahead = std::min(scanner.skippable(), left); ahead >= kSkipMinBytes) {
      scanner.skip(ahead);
      at += ahead;
      continue;
    }
    const MutableBytes room = MutableBytes(buffer).first(std::min<std::uint64_t>(kReadBytes, left));
    LEAT_TRY(const std::size_t count, file->read_at(at, room));
    if (count == 0) break;
    scanner.feed(room.first(count));
    at += count;
  }
  scanner.finish();
  if (scanner.state() == tar::Scanner::State::not_tar) {
    return fail(Errc::bad_request, path + " is no tar; compressed ones are to be unpacked first");
  }
  if (scanner.state() == tar::Scanner::State::broken) {
    return fail(Errc::bad_request, fmt::format("{}: {}", path, scanner.problem()));
  }
  return scanned;
}

}  // namespace

rt::Task<void> gather_archive(Ground& ground, Gathering& gathering, std::string path) {
  auto work = [&disk = ground.disk, path] { return scan(disk, path); };
  auto scanning = ground.pool.run<Scanned>(std::move(work));
  LEAT_CO_TRY(const Scanned scanned, co_await std::move(scanning));
  const std::int64_t changed = scanned.info.changed.time_since_epoch().count();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(scanned.info.modified);
  const std::uint32_t origin = gathering.catalog.add_origin({.kind = Catalog::OriginKind::archive,
                                                             .path = path,
                                                             .size_bytes = scanned.info.size_bytes,
                                                             .changed_ns = changed});
  const std::uint32_t label = gathering.labels++;
  Grouper grouper(gathering.catalog, gathering.findings, gathering.complain, gathering.fields);
  // A sample is a run of members with one key: the same key later is another sample.
  std::vector<FoundFile> run;
  std::string run_key;
  for (const tar::Member& member : scanned.members) {
    if (member.kind != tar::Kind::file) {
      if (member.kind != tar::Kind::directory) ++gathering.findings.special;
      continue;
    }
    if (member.name.starts_with("__leat__/")) continue;  // made anew for each shard
    const auto split = shard::split_name(member.name);
    FoundFile file{.name = member.name,
                   .origin = origin,
                   .offset = member.data_offset,
                   .size_bytes = member.size_bytes,
                   .mtime_s = seconds.time_since_epoch().count(),
                   .changed_ns = changed};
    if (!split) {
      grouper.add({std::move(file)}, label);
      continue;
    }
    if (!run.empty() && split->key != run_key) {
      grouper.add(run, label);
      run.clear();
    }
    run_key = split->key;
    run.push_back(std::move(file));
  }
  if (!run.empty()) grouper.add(run, label);
  co_return Status{};
}

}  // namespace leat::ingest
