#include "transfer/entries.h"

#include <algorithm>

#include "s3client/operations.h"
#include "transfer/names.h"

namespace leat::transfer {

ObjectEntries::ObjectEntries(s3client::S3Client& client, std::string bucket, std::string prefix)
    : client_(client), bucket_(std::move(bucket)), prefix_(std::move(prefix)) {}

rt::Task<std::optional<Entry>> ObjectEntries::next() {
  while (at_ == page_.size()) {
    if (is_last_) co_return std::optional<Entry>();
    s3client::ListQuery query{
        .bucket = bucket_, .prefix = prefix_, .continuation = std::move(continuation_)};
    LEAT_CO_TRY(auto page, co_await s3client::list_objects(client_, std::move(query)));
    page_ = std::move(page.objects);
    at_ = 0;
    continuation_ = std::move(page.continuation);
    is_last_ = continuation_.empty();
  }
  s3client::ListedObject& object = page_[at_++];
  co_return std::optional(Entry{.name = object.key.substr(prefix_.size()),
                                .size_bytes = object.size_bytes,
                                .modified = object.modified,
                                .etag = std::move(object.etag)});
}

rt::Task<std::optional<Entry>> FilteredEntries::next() {
  while (true) {
    LEAT_CO_TRY(auto entry, co_await all_->next());
    if (!entry || filter_.takes(entry->name)) co_return entry;
  }
}

// A file or folder as a listing shows it. Folders sort as "name/": that is how the keys below them
// are sorted.
struct FileEntries::Item {
  std::string sort_name{};
  io::FileInfo info{};
  std::optional<Error> error{};
};

struct FileEntries::Level {
  std::string prefix{};  // "a/b/", or nothing for the root
  std::uint64_t inode = 0;
  std::vector<Item> items{};
  std::size_t at = 0;
};

FileEntries::FileEntries(const Ground& ground, std::string root, Complain complain,
                         Incomplete incomplete)
    : ground_(ground),
      root_(std::move(root)),
      complain_(std::move(complain)),
      incomplete_(incomplete) {}

FileEntries::~FileEntries() = default;

rt::Task<void> FileEntries::enter(std::string prefix, std::uint64_t inode) {
  const std::string folder = prefix.empty() ? root_ : join(root_, prefix);
  const bool passes_over = incomplete_ == Incomplete::pass_over;
  auto look = [&disk = ground_.disk, folder, passes_over]() -> Result<std::vector<Item>> {
    LEAT_TRY(auto names, disk.list(folder));
    std::vector<Item> items;
    items.reserve(names.size());
    for (std::string& name : names) {
      Item item;
      if (name.ends_with(kPartSuffix)) {
        if (passes_over) continue;
        item.error =
            Error(Errc::conflict, "called as files that are still arriving; it is not sent");
        item.sort_name = std::move(name);
        items.push_back(std::move(item));
        continue;
      }
      auto info = disk.info(join(folder, name));
      item.sort_name = std::move(name);
      if (info) {
        item.info = *info;
        if (info->is_directory) item.sort_name += '/';
      } else {
        item.error = std::move(info).error();
      }
      items.push_back(std::move(item));
    }
    std::ranges::sort(items, {}, &Item::sort_name);
    return items;
  };
  auto looking = ground_.pool.run<std::vector<Item>>(std::move(look));
  auto items = co_await std::move(looking);
  if (!items) {
    const bool is_missing_root = prefix.empty() && items.error().code() == Errc::not_found;
    if (!is_missing_root) complain_(folder, items.error());
    co_return Status{};
  }
  auto level = std::make_unique<Level>();
  level->prefix = std::move(prefix);
  level->inode = inode;
  level->items = std::move(*items);
  levels_.push_back(std::move(level));
  co_return Status{};
}

rt::Task<std::optional<Entry>> FileEntries::next() {
  if (!is_open_) {
    is_open_ = true;
    LEAT_CO_DO(co_await enter("", 0));
  }
  while (!levels_.empty()) {
    Level& level = *levels_.back();
    if (level.at == level.items.size()) {
      levels_.pop_back();
      continue;
    }
    Item& item = level.items[level.at++];
    std::string name = level.prefix + item.sort_name;
    if (item.error) {
      complain_(join(root_, name), *item.error);
    } else if (item.info.is_directory) {
      const std::uint64_t inode = item.info.inode;
      const bool is_circle = std::ranges::any_of(
          levels_, [inode](const auto& above) { return above->inode == inode; });
      if (is_circle) {
        complain_(join(root_, name), Error(Errc::conflict, "the folder contains itself"));
        continue;
      }
      LEAT_CO_DO(co_await enter(std::move(name), inode));
    } else {
      co_return std::optional(Entry{.name = std::move(name),
                                    .size_bytes = item.info.size_bytes,
                                    .modified = item.info.modified});
    }
  }
  co_return std::optional<Entry>();
}

}  // namespace leat::transfer
