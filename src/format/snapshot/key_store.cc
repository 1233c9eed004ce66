#include "snapshot/key_store.h"

#include <algorithm>

#include "base/check.h"

namespace leat::snapshot {

void KeyStore::add(std::string_view key) {
  if (is_sorted_ && count_ > 0 && key < last_) unfold();
  if (!is_sorted_) {
    add_whole(key);
    return;
  }
  const auto shared =
      static_cast<std::size_t>(std::ranges::mismatch(last_, key).in1 - last_.begin());
  codec::Encoder out(bytes_);
  out.varint(shared);
  out.text(key.substr(shared));
  last_ = key;
  ++count_;
}

void KeyStore::unfold() {
  KeyStore whole;
  whole.is_sorted_ = false;
  Walker walker(*this);
  for (Row row = 0; row < count_; ++row)
    whole.add_whole(walker.next());
  *this = std::move(whole);
}

void KeyStore::add_whole(std::string_view key) {
  const std::size_t before = bytes_.size();
  bytes_ += key;
  if (bytes_.size() >> 32 != before >> 32) wraps_.push_back(count_);
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  ++count_;
}

std::string_view KeyStore::at(Row row) const {
  LEAT_CHECK(!is_sorted_ && row < count_);
  const auto end_of = [this](Row one) {
    const auto wraps = std::ranges::upper_bound(wraps_, one) - wraps_.begin();
    return (static_cast<std::uint64_t>(wraps) << 32) + ends_[one];
  };
  const std::uint64_t begin = row == 0 ? 0 : end_of(row - 1);
  return std::string_view(bytes_).substr(begin, end_of(row) - begin);
}

std::string_view KeyStore::Walker::next() {
  const std::uint64_t shared = in_.varint();
  const std::string_view rest = in_.text();
  LEAT_CHECK(!in_.failed() && shared <= key_.size());
  key_.resize(shared);
  key_ += rest;
  return key_;
}

}  // namespace leat::snapshot
