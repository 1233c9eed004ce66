// PageCache: pages of snapshots that were used last, bounded in bytes.
//
// Shard: one.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace leat::datasets {

struct PageName {
  std::uint64_t snapshot = 0;
  std::uint32_t section = 0;
  std::uint64_t page = 0;
  auto operator<=>(const PageName&) const = default;
};
using PagePtr = std::shared_ptr<const std::string>;

class PageCache {
 public:
  explicit PageCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Null when it is not there.
  PagePtr find(const PageName& name) {
    const auto known = by_name_.find(name);
    if (known == by_name_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, known->second);
    return known->second->page;
  }

  void keep(const PageName& name, PagePtr page) {
    // Somebody else may have read it meanwhile.
    if (by_name_.contains(name)) return;
    size_bytes_ += page->size();
    entries_.push_front({.name = name, .page = std::move(page)});
    by_name_[name] = entries_.begin();
    while (size_bytes_ > max_bytes_ && entries_.size() > 1) {
      size_bytes_ -= entries_.back().page->size();
      by_name_.erase(entries_.back().name);
      entries_.pop_back();
    }
  }

  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  struct Entry {
    PageName name{};
    PagePtr page{};
  };
  const std::uint64_t max_bytes_;
  std::uint64_t size_bytes_ = 0;
  std::list<Entry> entries_;  // the last used first
  std::map<PageName, std::list<Entry>::iterator> by_name_;
};

}  // namespace leat::datasets
