#include "ingest/export.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <unordered_set>

#include "ingest/gathering.h"
#include "ingest/tar_pieces.h"
#include "s3client/operations.h"
#include "shard/sample_name.h"
#include "transfer/group.h"
#include "transfer/names.h"

namespace leat::ingest {
namespace {

constexpr std::size_t kReadBytes = 4 * kMiB;

using Living = std::unordered_set<std::uint64_t>;  // where samples begin in their shard

struct Failure {
  std::string path{};
  Error error{Errc::internal};
};

// Writes the files of one shard. Runs on threads of the pool, one call at a time.
class ShardFiles {
 public:
  // Without `living`: all samples are wanted.
  ShardFiles(io::Disk& disk, const ExportOptions& options, std::optional<Living> living)
      : disk_(disk),
        options_(options),
        living_(std::move(living)),
        pieces_({.begin = [this](const tar::Member& member) { return begin(member); },
                 .data = [this](Bytes piece) { return data(piece); },
                 .end = [this] { return end(); }}) {}

  Status feed(Bytes bytes) { return pieces_.feed(bytes); }
  Status finish() { return pieces_.finish(); }
  void set_has_classes() { leaves_out_classes_ = !options_.with_classes; }

  ExportReport report{};
  std::vector<Failure> failures{};

 private:
  // A sample is a run of one key, and begins where the first of its members does.
  bool is_wanted(const tar::Member& member) {
    const auto split = shard::split_name(member.name);
    if (!split || !living_) return true;
    if (!is_in_sample_ || split->key != sample_key_) {
      is_in_sample_ = true;
      sample_key_ = split->key;
      is_living_ = living_->contains(member.start);
    }
    return is_living_ && !(leaves_out_classes_ && split->field == "cls");
  }

  Status begin(const tar::Member& member) {
    file_.reset();
    if (!is_wanted(member)) return {};
    name_ = member.name;
    auto opened = open();
    if (opened) {
      file_ = std::move(*opened);
    } else {
      fail_file(std::move(opened).error());
    }
    at_ = 0;
    return {};
  }

  Result<std::unique_ptr<io::File>> open() {
    LEAT_TRY(const std::string path, transfer::file_name_of(name_));
    const std::string folder = transfer::parent_of(path);
    if (folder != "." && folders_.insert(folder).second) LEAT_DO(disk_.make_directories(folder));
    if (!options_.overwrites) return disk_.open(path, io::OpenMode::create_new);
    LEAT_TRY(auto file, disk_.open(path, io::OpenMode::create));
    LEAT_DO(file->truncate(0));
    return file;
  }

  Status data(Bytes piece) {
    if (file_ == nullptr) return {};
    const Status written = file_->write_all_at(at_, piece);
    if (!written) {
      fail_file(written.error().clone());
      file_.reset();
      return {};
    }
    at_ += piece.size();
    return {};
  }

  Status end() {
    if (file_ == nullptr) return {};
    file_.reset();
    ++report.files;
    report.bytes += at_;
    return {};
  }

  void fail_file(Error error) {
    ++report.failed;
    failures.push_back({name_, std::move(error)});
  }

  io::Disk& disk_;
  const ExportOptions& options_;
  std::optional<Living> living_;
  bool leaves_out_classes_ = false;
  bool is_in_sample_ = false;
  std::string sample_key_;
  bool is_living_ = false;
  std::string name_;
  std::unique_ptr<io::File> file_;
  std::uint64_t at_ = 0;
  std::set<std::string> folders_;
  TarPieces pieces_;
};

class Export {
 public:
  Export(transfer::Tools& tools, const dataset::Dataset& dataset, const ExportOptions& options,
         const Complain& complain)
      : tools_(tools),
        dataset_(dataset),
        options_(options),
        complain_(complain),
        workers_(tools.shard) {}

  rt::Task<ExportReport> run() {
    LEAT_CO_DO(find_living());
    for (std::size_t i = 0; i < options_.shards_at_once; ++i)
      workers_.spawn(work());
    LEAT_CO_DO(co_await workers_.wait());
    co_return report_;
  }

 private:
  // Where the samples of each shard begin.
  Status find_living() {
    const snapshot::View& view = dataset_.view();
    living_.resize(view.shard_count());
    for (std::uint32_t row = 0; row < view.sample_count(); ++row) {
      LEAT_TRY(const snapshot::Sample sample, view.sample(row));
      living_[sample.shard].insert(sample.start);
    }
    return {};
  }

  rt::Task<void> work() {
    while (next_ < living_.size() && !workers_.has_failed()) {
      const auto number = static_cast<std::uint32_t>(next_++);
      LEAT_CO_DO(co_await take_apart(number));
    }
    co_return Status{};
  }

  rt::Task<void> take_apart(std::uint32_t number) {
    LEAT_CO_TRY(const snapshot::ShardEntry shard, dataset_.view().shard(number));
    if (shard.is_recipe) {
      ShardFiles files(tools_.disk, options_, std::nullopt);
      s3client::GetQuery query{.name = dataset::virtual_shard(dataset_.facts(), number)};
      co_return co_await write_all(files, std::move(query));
    }
    s3client::GetQuery query{.name = {shard.bucket, shard.key}, .etag = shard.etag};
    ShardFiles files(tools_.disk, options_, std::move(living_[number]));
    LEAT_CO_TRY(const bool has_classes, co_await has_class_list(query.name));
    if (has_classes) files.set_has_classes();
    co_return co_await write_all(files, std::move(query));
  }

  rt::Task<void> write_all(ShardFiles& files, s3client::GetQuery query) {
    const s3client::ObjectName name = query.name;
    LEAT_CO_TRY(auto response, co_await s3client::open_object(tools_.client, std::move(query)));
    const auto head = s3client::head_of(response);
    std::optional<hash::Checksum> sum;
    if (head.checksum) sum.emplace(head.checksum->algorithm());
    LEAT_CO_TRY(const auto lease, co_await tools_.memory.lease(kReadBytes));
    while (true) {
      LEAT_CO_TRY(const std::size_t count, co_await response.read(lease.bytes()));
      if (count == 0) break;
      const Bytes bytes = Bytes(lease.bytes()).first(count);
      auto feed = [&files, &sum, bytes]() -> Status {
        if (sum) sum->update(bytes);
        return files.feed(bytes);
      };
      auto feeding = tools_.pool.run<void>(std::move(feed));
      LEAT_CO_DO(co_await std::move(feeding));
      tools_.counters.moved(count);
    }
    LEAT_CO_DO(files.finish());
    if (sum && sum->finish() != *head.checksum) {
      co_return fail(Errc::corrupt, fmt::format("{}: its bytes are damaged", name.text()));
    }
    add(files);
    co_return Status{};
  }

  rt::Task<bool> has_class_list(s3client::ObjectName name) {
    s3client::Request request{.method = "HEAD", .name = std::move(name)};
    request.query.push_back({"member", std::string(kClassesName)});
    const auto answer = co_await tools_.client.ask(request);
    if (!answer && answer.error().code() == Errc::not_found) co_return false;
    if (!answer) co_return fail(answer.error());
    co_return true;
  }

  void add(ShardFiles& files) {
    report_.files += files.report.files;
    report_.bytes += files.report.bytes;
    report_.failed += files.report.failed;
    tools_.counters.files_done += files.report.files;
    for (const Failure& failure : files.failures)
      complain_(failure.path, failure.error);
  }

  transfer::Tools& tools_;
  const dataset::Dataset& dataset_;
  const ExportOptions& options_;
  const Complain& complain_;
  std::vector<Living> living_;
  std::size_t next_ = 0;
  ExportReport report_;
  transfer::Group workers_;
};

// How many samples the object has, as the service tells; nothing, if it is no tar to it.
std::optional<std::uint64_t> stored_samples(const s3client::Answer& answer) {
  const std::string text = answer.field("x-leat-shard-samples");
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

}  // namespace

rt::Task<s3client::ObjectName> find_tar(s3client::S3Client& client, const dataset::Dataset& dataset,
                                        std::uint32_t number) {
  LEAT_CO_TRY(const snapshot::ShardEntry shard, dataset.view().shard(number));
  const s3client::ObjectName made = dataset::virtual_shard(dataset.facts(), number);
  if (shard.is_recipe) co_return made;
  const s3client::Request request{.method = "HEAD", .name = {shard.bucket, shard.key}};
  LEAT_CO_TRY(const s3client::Answer answer, co_await client.ask(request));
  if (s3client::head_of(answer.response).etag != shard.etag) {
    co_return fail(Errc::conflict, fmt::format("{} is another one than when {} was committed",
                                               request.name.text(), dataset.facts().reference()));
  }
  const snapshot::Catalog& catalog = dataset.view().catalog();
  LEAT_CO_TRY(const snapshot::Row begin, catalog.first_row_of_shard(number));
  LEAT_CO_TRY(const snapshot::Row end, catalog.first_row_of_shard(number + 1));
  const bool is_whole = stored_samples(answer) == end - begin;
  co_return is_whole ? request.name : made;
}

rt::Task<ExportReport> export_files(transfer::Tools& tools, const dataset::Dataset& dataset,
                                    const ExportOptions& options, const Complain& complain) {
  Export work(tools, dataset, options, complain);
  co_return co_await work.run();
}

}  // namespace leat::ingest
