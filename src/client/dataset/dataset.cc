#include "dataset/dataset.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dataset/native.h"

namespace leat::dataset {
namespace {

using nlohmann::json;

constexpr std::string_view kScheme = "leat://";
// What a snapshot of 4 · 10⁹ rows could take; a length that lies fills no memory beyond it.
constexpr std::uint64_t kSnapshotMaxBytes = 256 * kGiB;
constexpr int kReadsMax = 3;
constexpr std::uint32_t kBrokenMax = 8;  // answers that break off without a byte of progress

std::string_view without_scheme(std::string_view reference) {
  if (reference.starts_with(kScheme)) reference.remove_prefix(kScheme.size());
  return reference;
}

// The bytes of the snapshot from `bytes.size() - left` on, as many as come before it breaks off.
rt::Task<void> read_some_snapshot(s3client::S3Client& client, const DatasetFacts& facts,
                                  MutableBytes whole, std::size_t& have) {
  const NativeCall call{.path = "datasets/" + facts.reference(), .query = {{"snapshot", ""}}};
  s3client::Request request = native_request(call);
  request.fields = {{"If-Match", '"' + facts.fingerprint + '"'},
                    {"Range", fmt::format("bytes={}-{}", have, whole.size() - 1)}};
  LEAT_CO_TRY(auto response, co_await client.open(request));
  if (response.status() != 206) {
    co_return fail(Errc::io, "the service does not honour ranges of a snapshot");
  }
  while (have < whole.size()) {
    const MutableBytes rest = whole.subspan(have);
    LEAT_CO_TRY(const std::size_t count, co_await response.read(rest));
    if (count == 0) co_return fail(Errc::closed, "the snapshot broke off");
    have += count;
  }
  co_return Status{};
}

rt::Task<std::vector<std::byte>> read_snapshot(s3client::S3Client& client,
                                               const DatasetFacts& facts) {
  if (facts.snapshot_bytes == 0 || facts.snapshot_bytes > kSnapshotMaxBytes) {
    co_return fail(Errc::not_found, fmt::format("{}: there is no version yet", facts.name));
  }
  std::vector<std::byte> bytes(facts.snapshot_bytes);
  std::size_t have = 0;
  std::uint32_t broken = 0;
  while (have < bytes.size()) {
    const std::size_t before = have;
    const MutableBytes whole(bytes);
    Status read = co_await read_some_snapshot(client, facts, whole, have);
    if (read) continue;
    broken = have > before ? 0 : broken + 1;
    if (!s3client::is_transient(read.error()) || broken > kBrokenMax) {
      co_return fail(std::move(read).error());
    }
  }
  co_return bytes;
}

// Every page has its checksum. Errors: corrupt.
Status check_pages(const snapshot::View& view) {
  const snapshot::Pages& pages = view.catalog().pages();
  for (const snapshot::Section& section : pages.footer().sections) {
    for (std::uint64_t page = 0; page < section.page_count(); ++page) {
      const std::uint64_t begin = page * snapshot::kPageBytes;
      LEAT_DO(pages.read(section, begin, section.page(page).size_bytes));
    }
  }
  return {};
}

}  // namespace

Result<DatasetFacts> parse_facts(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return fail(Errc::io, "the description of a dataset is no JSON");
  DatasetFacts facts;
  const auto number = [&document](const char* name, std::uint64_t& into) {
    const auto found = document.find(name);
    if (found == document.end() || !found->is_number_unsigned()) return false;
    into = found->get<std::uint64_t>();
    return true;
  };
  const auto word = [&document](const char* name, std::string& into) {
    const auto found = document.find(name);
    if (found == document.end() || !found->is_string()) return false;
    into = found->get<std::string>();
    return true;
  };
  bool is_good = number("version", facts.version) && number("samples", facts.samples) &&
                 number("shards", facts.shards) && number("bytes", facts.bytes) &&
                 number("snapshot_bytes", facts.snapshot_bytes) && word("dataset", facts.name) &&
                 word("fingerprint", facts.fingerprint);
  number("committed_ms", facts.committed_ms);
  word("message", facts.message);
  if (const auto fields = document.find("fields"); fields != document.end()) {
    for (const json& one : *fields) {
      is_good = is_good && one.is_string();
      if (is_good) facts.fields.push_back(one.get<std::string>());
    }
  }
  if (!is_good) return fail(Errc::io, "this is no description of a dataset");
  return facts;
}

Result<std::shared_ptr<const Dataset>> Dataset::open(DatasetFacts facts,
                                                     std::vector<std::byte> bytes) {
  auto view = snapshot::View::open(bytes);
  if (!view) {
    return fail(view.error().code(),
                fmt::format("the snapshot of {}: {}", facts.reference(), view.error().detail()));
  }
  if (Status checked = check_pages(*view); !checked) {
    return fail(Errc::corrupt,
                fmt::format("the snapshot of {}: {}", facts.reference(), checked.error().detail()));
  }
  if (view->sample_count() != facts.samples) {
    return fail(Errc::conflict,
                fmt::format("the snapshot of {} is of another version", facts.reference()));
  }
  // Moving a vector leaves its bytes, and so the view, where they are.
  return std::shared_ptr<const Dataset>(
      new Dataset(std::move(facts), std::move(bytes), *std::move(view)));
}

s3client::ObjectName virtual_shard(const DatasetFacts& facts, std::uint32_t number) {
  const NativeCall call{.path =
                            fmt::format("datasets/{}/shards/{:06}.tar", facts.reference(), number)};
  return native_request(call).name;
}

rt::Task<DatasetFacts> describe_dataset(s3client::S3Client& client, std::string reference) {
  NativeCall call{.path = fmt::format("datasets/{}", without_scheme(reference))};
  LEAT_CO_TRY(const std::string answer, co_await call_native(client, std::move(call)));
  co_return parse_facts(answer);
}

rt::Task<std::shared_ptr<const Dataset>> open_dataset(s3client::S3Client& client,
                                                      std::string reference) {
  LEAT_CO_TRY(DatasetFacts facts, co_await describe_dataset(client, std::move(reference)));
  // What was damaged on its way is read again.
  for (int attempt = 1;; ++attempt) {
    LEAT_CO_TRY(std::vector<std::byte> bytes, co_await read_snapshot(client, facts));
    auto opened = Dataset::open(facts, std::move(bytes));
    const bool is_damaged = !opened && opened.error().code() == Errc::corrupt;
    if (!is_damaged || attempt == kReadsMax) co_return opened;
  }
}

}  // namespace leat::dataset
