#include "transfer/tree.h"

#include <fmt/format.h>

#include <array>

#include "http1/media_type.h"
#include "transfer/names.h"
#include "transfer/plan.h"

namespace leat::transfer {
namespace {

constexpr std::size_t kKeysMax = 1000;

Direction direction_of(const Location& source, const Location& target) {
  if (source.is_file()) return Direction::up;
  return target.is_file() ? Direction::down : Direction::between;
}

s3client::ObjectName below(const Location& location, const std::string& name) {
  return {location.object.bucket, folder_prefix(location.object) + name};
}

class Adder {
 public:
  Adder(Tools& tools, Crew& crew, Tree tree) : tools_(tools), crew_(crew), tree_(std::move(tree)) {
    tree_.rules.direction = direction_of(tree_.source, tree_.target);
  }

  rt::Task<void> run() {
    LEAT_CO_DO(check());
    // A bucket that is not there is told before anything is listed.
    const std::array sides = {&tree_.source, &tree_.target};
    for (const Location* side : sides) {
      if (!side->is_object()) continue;
      LEAT_CO_DO(co_await s3client::head_bucket(tools_.client, side->object.bucket));
    }
    // What is still arriving at the target is none of its files; at the source it would be missed.
    const auto source = entries_of(tree_.source, Incomplete::complain);
    const auto target = entries_of(tree_.target, Incomplete::pass_over);
    const Emit emit = [this](Verdict verdict, Entry entry) {
      return take(verdict, std::move(entry));
    };
    LEAT_CO_DO(co_await plan(*source, *target, tree_.rules, emit));
    LEAT_CO_DO(co_await flush());
    if (kept_ > 0 && tree_.kept) tree_.kept(kept_);
    if (found_ > 0 || is_blind_) co_return Status{};
    if (!tree_.found_nothing) co_return fail(nothing_found());
    tree_.found_nothing(nothing_found());
    co_return Status{};
  }

 private:
  Error nothing_found() const {
    const std::string which = tree_.filter.takes_all() ? "" : " that --include and --exclude leave";
    const std::string next =
        tree_.source.is_object()
            ? fmt::format("; `leat ls {}/` shows what is there", tree_.source.object.bucket)
            : "";
    return {Errc::not_found,
            fmt::format("nothing is below {}{}{}", tree_.source.text(), which, next)};
  }

  // Copying into itself would never end; moving into itself would lose what it moves.
  Status check() const {
    if (!tree_.source.is_object() || !tree_.target.is_object()) return {};
    const auto& [source_bucket, source_key] = tree_.source.object;
    const auto& [target_bucket, target_key] = tree_.target.object;
    const std::string from = folder_prefix(tree_.source.object);
    const std::string to = folder_prefix(tree_.target.object);
    if (source_bucket != target_bucket || (!from.starts_with(to) && !to.starts_with(from))) {
      return {};
    }
    return fail(Errc::bad_request, fmt::format("{} and {} are inside each other",
                                               tree_.source.text(), tree_.target.text()));
  }

  std::unique_ptr<EntrySource> entries_of(const Location& location, Incomplete incomplete) {
    return std::make_unique<FilteredEntries>(all_of(location, incomplete), tree_.filter);
  }

  std::unique_ptr<EntrySource> all_of(const Location& location, Incomplete incomplete) {
    if (location.is_object()) {
      return std::make_unique<ObjectEntries>(tools_.client, location.object.bucket,
                                             folder_prefix(location.object));
    }
    const FileEntries::Ground ground{tools_.disk, tools_.pool};
    auto complain = [this](const std::string& path, const Error& error) {
      is_blind_ = true;
      tree_.complain(path, error);
    };
    return std::make_unique<FileEntries>(ground, location.path, std::move(complain), incomplete);
  }

  rt::Task<void> take(Verdict verdict, Entry entry) {
    if (verdict == Verdict::leave) co_return Status{};
    if (verdict == Verdict::remove) co_return co_await remove(std::move(entry));
    ++found_;
    const bool is_download = tree_.rules.direction == Direction::down;
    if (is_download && (is_folder_marker(entry.name) || entry.name.empty())) {
      co_return co_await take_folder(std::move(entry));
    }
    Job job = job_for(entry);
    // The object that stands for the source itself; a bucket needs none.
    if (job.action == Action::copy && job.target.key.empty()) co_return Status{};
    const bool is_put = job.action == Action::put;
    const std::string target = job.action == Action::get ? job.path : job.target.text();
    if (const Status free = claim(tree_, target); !free) {
      tree_.complain(is_put ? job.path : job.source.text(), free.error());
      co_return Status{};
    }
    if (verdict == Verdict::skip && !tree_.remove_source) {
      tree_.skipped(entry);
      co_return Status{};
    }
    if (is_download) {
      if (const auto name = file_name_of(entry.name); !name) {
        tree_.complain(below(tree_.source, entry.name).text(), name.error());
        co_return Status{};
      }
    }
    job.compare_first = verdict != Verdict::send;
    co_return co_await crew_.add(std::move(job));
  }

  // An object that stands for a folder becomes one. Without a name it is the target itself.
  rt::Task<void> take_folder(Entry entry) {
    const s3client::ObjectName object = below(tree_.source, entry.name);
    const auto complain = [this, &object](const Error& error) {
      tree_.complain(object.text(), error);
    };
    if (entry.size_bytes > 0) {
      complain({Errc::conflict,
                "a key that ends in '/' stands for a folder, which cannot hold "
                "bytes; `leat get KEY FILE` fetches it under another name"});
      co_return Status{};
    }
    if (tree_.is_dry) co_return Status{};
    if (!entry.name.empty()) {
      const auto name = file_name_of(std::string_view(entry.name).substr(0, entry.name.size() - 1));
      if (!name) complain(name.error());
      if (!name) co_return Status{};
      auto work = [&disk = tools_.disk, path = join(tree_.target.path, *name)] {
        return disk.make_durable_directories(path);
      };
      auto making = tools_.pool.run<void>(std::move(work));
      const Status made = co_await std::move(making);
      if (!made) complain(made.error());
      if (!made) co_return Status{};
    }
    if (!tree_.remove_source) co_return Status{};
    const Status removed = co_await s3client::delete_object(tools_.client, object, entry.etag);
    if (!removed) complain(removed.error());
    co_return Status{};
  }

  Job job_for(const Entry& entry) const {
    Single single{.size_bytes = entry.size_bytes, .etag = entry.etag, .modified = entry.modified};
    single.source = tree_.source;
    single.target = tree_.target;
    for (Location* side : {&single.source, &single.target}) {
      if (side->is_object()) {
        side->object = below(*side, entry.name);
      } else {
        side->path = join(side->path, entry.name);
      }
    }
    return single_job(single, tree_);
  }

  rt::Task<void> remove(Entry entry) {
    // What could not be looked at must not be taken for missing.
    if (is_blind_) ++kept_;
    if (is_blind_) co_return Status{};
    if (tree_.target.is_file()) {
      Job job{.action = Action::remove_file, .is_dry = tree_.is_dry};
      job.path = join(tree_.target.path, entry.name);
      co_return co_await crew_.add(std::move(job));
    }
    // Files know no such objects, so that none of them is missing.
    const bool from_files = tree_.source.is_file();
    if (from_files && (is_folder_marker(entry.name) || entry.name.empty())) co_return Status{};
    extra_.push_back(folder_prefix(tree_.target.object) + entry.name);
    if (extra_.size() < kKeysMax) co_return Status{};
    co_return co_await flush();
  }

  rt::Task<void> flush() {
    if (extra_.empty()) co_return Status{};
    Job job{.action = Action::remove, .is_dry = tree_.is_dry};
    job.target.bucket = tree_.target.object.bucket;
    job.keys = std::exchange(extra_, {});
    co_return co_await crew_.add(std::move(job));
  }

  Tools& tools_;
  Crew& crew_;
  Tree tree_;
  std::vector<std::string> extra_;
  std::uint64_t found_ = 0;  // in the source
  std::uint64_t kept_ = 0;   // in the target: extra as far as could be looked at
  bool is_blind_ = false;    // some of the files could not be looked at
};

}  // namespace

Status claim(const Tree& tree, const std::string& target) {
  if (!tree.claim || tree.claim(target)) return {};
  return fail(Errc::conflict,
              fmt::format("another source goes to {} as well; this one stays where it is", target));
}

Job single_job(const Single& single, const Tree& how) {
  Job job{.size_bytes = single.size_bytes,
          .etag = single.etag,
          .modified = single.modified,
          .remove_source = how.remove_source,
          .is_dry = how.is_dry};
  job.compare_first = !how.rules.force;
  switch (direction_of(single.source, single.target)) {
    case Direction::up:
      job.action = Action::put;
      job.path = single.source.path;
      job.target = single.target.object;
      job.content = how.content;
      if (job.content.type.empty()) job.content.type = http1::media_type_of(job.path);
      break;
    case Direction::down:
      job.action = Action::get;
      job.source = single.source.object;
      job.path = single.target.path;
      break;
    case Direction::between:
      job.action = Action::copy;
      job.source = single.source.object;
      job.target = single.target.object;
      break;
  }
  return job;
}

rt::Task<void> add_tree(Tools& tools, Crew& crew, Tree tree) {
  Adder adder(tools, crew, std::move(tree));
  co_return co_await adder.run();
}

}  // namespace leat::transfer
