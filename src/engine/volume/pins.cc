#include "volume/pins.h"

#include <iterator>

namespace leat::volume {

bool Pins::is_changed(const Pin& pin) {
  const auto info = pin.file->info();
  return !info || info->changed != pin.changed;
}

void Pins::let_go_of_changed() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (is_changed(*entry->pin)) drop(entry);
    entry = next;
  }
}

void Pins::clear() {
  entries_.clear();
  by_file_.clear();
  pending_.clear();
  parts_.clear();
  size_bytes_ = 0;
  pending_bytes_ = 0;
}

PinPtr Pins::find(record::FileId file) {
  const auto found = by_file_.find(file.value());
  if (found == by_file_.end()) return nullptr;
  if (is_changed(*found->second->pin)) {
    drop(found->second);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->pin;
}

bool Pins::wants(record::FileId file, std::uint64_t size_bytes) {
  // A file that would take a good part of all room would push out too much.
  if (size_bytes == 0 || size_bytes > max_bytes_ / 4) return false;
  if (pending_.contains(file.value()) || by_file_.contains(file.value())) return false;
  const bool has_room = size_bytes_ + pending_bytes_ + size_bytes <= max_bytes_;
  if (!was_seen(file) && !has_room) return false;
  pending_.emplace(file.value(), size_bytes);
  pending_bytes_ += size_bytes;
  return true;
}

bool Pins::wants_after(record::FileId file, std::uint64_t size_bytes, std::uint64_t read_bytes) {
  if (by_file_.contains(file.value()) || pending_.contains(file.value())) return false;
  // Who reads parts of more files than this counts from the beginning now and then.
  if (parts_.size() >= kSeenMax && !parts_.contains(file.value())) parts_.clear();
  std::uint64_t& bytes = parts_[file.value()];
  bytes += read_bytes;
  if (bytes < size_bytes) return false;
  parts_.erase(file.value());
  return wants(file, size_bytes);
}

void Pins::done(record::FileId file, PinPtr pin) {
  const auto pending = pending_.find(file.value());
  if (pending == pending_.end()) return;  // let go of meanwhile
  const std::uint64_t size_bytes = pending->second;
  pending_bytes_ -= size_bytes;
  pending_.erase(pending);
  if (!pin) return;
  make_room(size_bytes);
  entries_.push_front({file, std::move(pin), size_bytes});
  by_file_.insert_or_assign(file.value(), entries_.begin());
  size_bytes_ += size_bytes;
}

bool Pins::was_seen(record::FileId file) {
  if (seen_set_.contains(file)) return true;
  seen_.push_front(file);
  seen_set_.insert(file);
  if (seen_.size() > kSeenMax) {
    seen_set_.erase(seen_.back());
    seen_.pop_back();
  }
  return false;
}

void Pins::make_room(std::uint64_t size_bytes) {
  while (!entries_.empty() && size_bytes_ + size_bytes > max_bytes_) {
    drop(std::prev(entries_.end()));
  }
}

void Pins::drop(Entries::iterator entry) {
  size_bytes_ -= entry->size_bytes;
  by_file_.erase(entry->file.value());
  entries_.erase(entry);
}

}  // namespace leat::volume
