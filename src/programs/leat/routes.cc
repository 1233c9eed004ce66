#include "leat/routes.h"

#include <fmt/format.h>

#include <map>

#include "http1/media_type.h"
#include "leat/change.h"
#include "leat/several.h"
#include "s3client/operations.h"
#include "transfer/download.h"
#include "transfer/names.h"
#include "transfer/upload.h"

namespace leat::programs {
namespace {

using s3client::ObjectName;
using transfer::Location;
using transfer::Single;
using transfer::Tree;

struct Route {
  Location source{};
  Location target{};
  bool is_shared = false;  // the target is a folder for several sources
};

Result<s3client::Content> content_of(const Arguments& arguments) {
  s3client::Content content{.type = arguments.value("--content-type")};
  const auto metas = arguments.values.find("--meta");
  if (metas == arguments.values.end()) return content;
  for (const std::string& meta : metas->second) {
    const std::size_t equals = meta.find('=');
    if (equals == 0 || equals == meta.npos) {
      return fail(Errc::bad_request, fmt::format("--meta {}: expected NAME=VALUE", meta));
    }
    content.metadata.emplace_back(meta.substr(0, equals), meta.substr(equals + 1));
  }
  return content;
}

rt::Task<io::FileInfo> look_at(transfer::Tools& tools, std::string path) {
  auto work = [&disk = tools.disk, path = std::move(path)] { return disk.info(path); };
  return tools.pool.run<io::FileInfo>(std::move(work));
}

// Inside the target if it is a folder.
ObjectName object_target(const Route& route, std::string_view name) {
  ObjectName target = route.target.object;
  const bool is_folder = target.key.empty() || target.key.ends_with('/') || route.is_shared;
  if (is_folder) target.key = transfer::folder_prefix(target) + std::string(name);
  return target;
}

Tree shared_tree(const Route& route, const Tree& how, std::string_view name) {
  Tree tree = how;
  tree.source = route.source;
  tree.target = route.target;
  if (!route.is_shared) return tree;
  if (tree.target.is_object()) {
    tree.target.object.key = transfer::folder_prefix(tree.target.object) + std::string(name);
  } else {
    tree.target.path = transfer::join(tree.target.path, name);
  }
  return tree;
}

std::string_view name_of(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  return transfer::last_name(path);
}

rt::Task<void> add_single(TransferRun& run, const Single& single, const Tree& how) {
  LEAT_CO_DO(refuse_filter(how.filter, single.source.text()));
  LEAT_CO_DO(transfer::claim(how, single.target.text()));
  co_return co_await run.crew().add(transfer::single_job(single, how));
}

// Trees of the same name may go to one folder: what is in them tells whether they collide.
rt::Task<bool> is_tree(Session& session, const Location& source) {
  if (!source.is_file()) co_return session.arguments.has("--recursive");
  const auto info = co_await look_at(session.tools(), source.path);
  co_return info && info->is_directory;
}

rt::Task<void> add_put(TransferRun& run, const Route& route, const Tree& how) {
  LEAT_CO_TRY(const io::FileInfo info, co_await look_at(run.tools(), route.source.path));
  const std::string_view name = name_of(route.source.path);
  if (info.is_directory) {
    Tree tree = shared_tree(route, how, name);
    co_return co_await transfer::add_tree(run.tools(), run.crew(), std::move(tree));
  }
  Single single{.source = route.source, .size_bytes = info.size_bytes};
  single.target.object = object_target(route, name);
  co_return co_await add_single(run, single, how);
}

// The object is not there: perhaps the beginning of others was meant. Always an error.
rt::Task<void> explain_missing(Session& session, const Location& source, Error error) {
  if (error.code() != Errc::not_found) co_return fail(std::move(error));
  s3client::ListQuery query{.bucket = source.object.bucket, .keys_max = 1};
  query.prefix = transfer::folder_prefix(source.object);
  const auto page = co_await s3client::list_objects(session.client(), std::move(query));
  if (!page || page->objects.empty()) co_return fail(std::move(error));
  co_return fail(Errc::bad_request,
                 fmt::format("{} is no object, but there are some below it: -r takes them all",
                             source.text()));
}

rt::Task<Single> single_source(Session& session, const Location& source) {
  auto head = co_await s3client::head_object(session.client(), source.object);
  if (!head) {
    Error error = head.error().clone();
    Status why = co_await explain_missing(session, source, std::move(error));
    co_return fail(std::move(why).error());
  }
  Single single{.source = source, .size_bytes = head->size_bytes, .etag = head->etag};
  co_return single;
}

rt::Task<void> add_get(Session& session, TransferRun& run, const Route& route, const Tree& how) {
  const std::string name(name_of(route.source.object.key.empty() ? route.source.object.bucket
                                                                 : route.source.object.key));
  if (session.arguments.has("--recursive")) {
    Tree tree = shared_tree(route, how, name);
    co_return co_await transfer::add_tree(run.tools(), run.crew(), std::move(tree));
  }
  if (route.source.object.key.empty()) {
    co_return fail(Errc::bad_request,
                   fmt::format("{} is a bucket: -r takes everything in it", route.source.text()));
  }
  LEAT_CO_TRY(Single single, co_await single_source(session, route.source));
  single.target = route.target;
  const auto there = co_await look_at(run.tools(), route.target.path);
  const bool is_folder =
      route.is_shared || route.target.path.ends_with('/') || (there && there->is_directory);
  if (is_folder) {
    LEAT_CO_TRY(const std::string file, transfer::file_name_of(name));
    single.target.path = transfer::join(route.target.path, file);
  } else if (route.target.path.ends_with(transfer::kPartSuffix)) {
    co_return fail(Errc::bad_request,
                   fmt::format("{}: files that are still arriving are called so; give another name",
                               route.target.path));
  }
  co_return co_await add_single(run, single, how);
}

rt::Task<void> add_copy(Session& session, TransferRun& run, const Route& route, const Tree& how) {
  const std::string_view name = name_of(route.source.object.key);
  if (session.arguments.has("--recursive")) {
    Tree tree = shared_tree(route, how, name);
    co_return co_await transfer::add_tree(run.tools(), run.crew(), std::move(tree));
  }
  if (route.source.object.key.empty()) {
    co_return fail(Errc::bad_request,
                   fmt::format("{} is a bucket: -r takes everything in it", route.source.text()));
  }
  LEAT_CO_TRY(Single single, co_await single_source(session, route.source));
  single.target.object = object_target(route, name);
  if (single.target.object == single.source.object) {
    co_return fail(Errc::bad_request, fmt::format("{} and {} are the same", route.source.text(),
                                                  single.target.text()));
  }
  co_return co_await add_single(run, single, how);
}

// stdin, read on a pool thread.
class StandardInput final : public transfer::ByteSource {
 public:
  explicit StandardInput(rt::BlockingPool& pool) : pool_(pool) {}
  rt::Task<std::size_t> read(MutableBytes target) override {
    auto work = [target]() -> Result<std::size_t> {
      const std::size_t count = std::fread(target.data(), 1, target.size(), stdin);
      if (count < target.size() && std::ferror(stdin) != 0) {
        return fail(Errc::io, "standard input cannot be read");
      }
      return count;
    };
    return pool_.run<std::size_t>(std::move(work));
  }

 private:
  rt::BlockingPool& pool_;
};

class StandardOutput final : public transfer::ByteSink {
 public:
  explicit StandardOutput(rt::BlockingPool& pool) : pool_(pool) {}
  rt::Task<void> write(Bytes bytes) override {
    auto work = [this, bytes]() -> Status {
      is_closed_ = std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size();
      if (is_closed_) return fail(Errc::cancelled, "standard output was closed");
      return {};
    };
    return pool_.run<void>(std::move(work));
  }

  // Nobody takes what is written.
  bool is_closed() const { return is_closed_; }

 private:
  rt::BlockingPool& pool_;
  bool is_closed_ = false;
};

rt::Task<Exit> get_stream(Session& session, const Location& source, StandardOutput& output) {
  if (source.object.key.empty()) {
    co_return fail(Errc::bad_request, fmt::format("{} is a bucket, not an object", source.text()));
  }
  LEAT_CO_DO(co_await transfer::download_stream(session.tools(), source.object, output));
  co_return Exit::done;
}

rt::Task<void> add_route(Session& session, TransferRun& run, const Route& route, const Tree& how) {
  if (route.source.is_file() && route.target.is_object()) {
    co_return co_await add_put(run, route, how);
  }
  if (route.source.is_object() && route.target.is_file()) {
    co_return co_await add_get(session, run, route, how);
  }
  if (route.source.is_object() && route.target.is_object()) {
    co_return co_await add_copy(session, run, route, how);
  }
  co_return fail(Errc::bad_request,
                 fmt::format("{} and {}: one of them must be an object, such as BUCKET/KEY",
                             route.source.text(), route.target.text()));
}

}  // namespace

Result<transfer::NameFilter> filter_of(const Arguments& arguments) {
  const auto given = [&arguments](std::string_view flag) {
    const auto found = arguments.values.find(flag);
    return found == arguments.values.end() ? std::vector<std::string>() : found->second;
  };
  return transfer::NameFilter::make(given("--include"), given("--exclude"));
}

Status refuse_filter(const transfer::NameFilter& filter, const std::string& source) {
  if (filter.takes_all()) return {};
  return fail(Errc::bad_request,
              fmt::format("{} is no tree: --include and --exclude choose from what is below a "
                          "folder, or with -r below a prefix",
                          source));
}

Result<Tree> tree_of(Session& session, TransferRun& run) {
  Tree tree;
  const Arguments& arguments = session.arguments;
  LEAT_TRY(tree.content, content_of(arguments));
  LEAT_TRY(tree.filter, filter_of(arguments));
  // What is there may have other metadata than is asked for.
  tree.rules.force =
      arguments.has("--force") || !tree.content.type.empty() || !tree.content.metadata.empty();
  tree.rules.by_content = arguments.has("--checksum");
  tree.is_dry = arguments.has("--dry-run");
  tree.complain = [&run](const std::string& name, const Error& error) {
    run.complain(name, error);
  };
  tree.skipped = [&run](const transfer::Entry& entry) {
    run.skipped(entry.name, entry.size_bytes);
  };
  const bool has_several_sources = session.words().size() > 2;
  if (has_several_sources) {
    tree.claim = [&run](const std::string& target) { return run.claim(target); };
  }
  return tree;
}

rt::Task<void> check_targets(Session& session, const std::vector<Location>& sources,
                             const Location& target) {
  if (sources.size() < 2) co_return Status{};
  std::map<std::string, const Location*, std::less<>> taken;
  for (const Location& source : sources) {
    LEAT_CO_TRY(const bool goes_as_tree, co_await is_tree(session, source));
    if (goes_as_tree) continue;
    const std::string name(name_of(source.is_file() ? source.path : source.object.key));
    const auto [other, is_new] = taken.emplace(name, &source);
    if (is_new) continue;
    co_return fail(
        Errc::bad_request,
        fmt::format("{} and {} would both become {}; nothing was done", other->second->text(),
                    source.text(), transfer::join(target.text(), name)));
  }
  co_return Status{};
}

Result<std::vector<transfer::Tools*>> members_for(Session& session, Location& target, bool is_tree,
                                                  std::string& shown_root) {
  if (!is_tree || !target.is_file() || session.arguments.has("--dry-run")) {
    return session.members();
  }
  // A move removes its sources: then the folder must outlast a power cut as its files do.
  LEAT_DO(session.tools().disk.make_durable_directories(target.path));
  shown_root = target.path;
  auto members = session.members_below(target.path);
  target.path = ".";
  return members;
}

rt::Task<Exit> run_routes(Session& session, TransferRun& run, const std::vector<Location>& sources,
                          const Location& target, const Tree& how) {
  run.start();
  Status planned;
  for (const Location& source : sources) {
    const Route route{.source = source, .target = target, .is_shared = sources.size() > 1};
    const Status added = co_await add_route(session, run, route, how);
    if (added) continue;
    if (sources.size() > 1) {
      run.complain(source.text(), added.error());
    } else {
      planned = fail(added.error());
    }
  }
  co_return co_await run.finish(std::move(planned));
}

std::unique_ptr<transfer::ByteSource> standard_input(Session& session) {
  return std::make_unique<StandardInput>(session.tools().pool);
}

rt::Task<Exit> put_stream(Session& session, ObjectName target) {
  if (target.key.empty() || target.key.ends_with('/')) {
    co_return fail(Errc::bad_request, "what comes from stdin has no name: give BUCKET/KEY");
  }
  LEAT_CO_TRY(auto content, content_of(session.arguments));
  if (content.type.empty()) content.type = http1::media_type_of(target.key);
  if (session.arguments.has("--dry-run")) {
    // Nobody knows what would come from stdin; but whether it could arrive.
    LEAT_CO_DO(co_await s3client::head_bucket(session.client(), target.bucket));
    tell(session.arguments,
         {.type = "file", .action = "put", .name = target.text(), .shown = "- → " + target.text()});
    co_return Exit::done;
  }
  StandardInput input(session.tools().pool);
  LEAT_CO_DO(co_await transfer::upload_stream(session.tools(), input, target, std::move(content)));
  co_return Exit::done;
}

rt::Task<Exit> get_streams(Session& session, std::vector<Location> sources) {
  StandardOutput output(session.tools().pool);
  Several several(session, sources.size(), /*has_lines=*/false);
  for (const Location& source : sources) {
    auto outcome = co_await get_stream(session, source, output);
    if (output.is_closed()) co_return Exit::failed;  // who reads has had enough: `… | head`
    several.ended(source.text(), std::move(outcome));
  }
  co_return several.exit();
}

}  // namespace leat::programs
