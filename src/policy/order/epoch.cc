#include "order/epoch.h"

#include <algorithm>
#include <initializer_list>

#include "base/check.h"

namespace leat::order {
namespace {

// What a key is for: the fifth word of its chain.
constexpr std::uint64_t kBlockLevel = 1;
constexpr std::uint64_t kSampleLevel = 2;
constexpr std::uint64_t kFullLevel = 3;

std::uint64_t word(const Fingerprint& fingerprint, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value |= std::to_integer<std::uint64_t>(fingerprint[at + i]) << (8 * i);
  return value;
}

std::uint64_t chain(std::uint64_t so_far, std::initializer_list<std::uint64_t> words) {
  for (const std::uint64_t one : words)
    so_far = mix(so_far ^ one);
  return so_far;
}

// The last of `begins` that is not behind `position`, of runs that may be empty.
std::uint64_t run_of(const std::vector<std::uint64_t>& begins, std::uint64_t position) {
  const auto behind = std::ranges::upper_bound(begins, position);
  return static_cast<std::uint64_t>(behind - begins.begin()) - 1;
}

}  // namespace

Place Window::at(std::uint64_t p) const {
  LEAT_CHECK(p < size());
  const std::uint64_t laid_out = samples_ ? (*samples_)(p) : p;
  const std::uint64_t run = run_of(begins_, laid_out);
  return {.block = blocks_[run], .slot = static_cast<std::uint32_t>(laid_out - begins_[run])};
}

Epoch::Epoch(std::span<const std::uint32_t> counts, const EpochOptions& options)
    : counts_(counts),
      shuffle_(options.shuffle),
      seed_key_(chain(0, {kOrderVersion, word(options.fingerprint, 0), word(options.fingerprint, 8),
                          options.seed, options.epoch})) {
  const std::uint64_t n = counts.size();
  const std::uint64_t g = options.window_blocks;
  LEAT_CHECK(g > 0 && n <= UINT32_MAX);
  if (shuffle_ == Shuffle::block) blocks_.emplace(n, key(kBlockLevel, 0));
  // The nearest whole number, halves up; no window is much shorter than the others.
  const std::uint64_t rounded = n / g + (n % g >= g - g / 2 ? 1 : 0);
  const std::uint64_t windows = std::max<std::uint64_t>(1, rounded);
  window_begins_.assign(windows + 1, 0);
  for (std::uint64_t w = 0; w < windows; ++w) {
    std::uint64_t samples = 0;
    for (std::uint64_t j = w * n / windows; j < (w + 1) * n / windows; ++j)
      samples += counts[block_at(j)];
    window_begins_[w + 1] = window_begins_[w] + samples;
  }
  if (shuffle_ == Shuffle::full) samples_.emplace(size(), key(kFullLevel, 0));
}

std::uint64_t Epoch::key(std::uint64_t level, std::uint64_t w) const {
  return chain(seed_key_, {level, w});
}

std::uint64_t Epoch::first_block(std::uint64_t w) const {
  return w * counts_.size() / window_count();
}

std::uint64_t Epoch::block_at(std::uint64_t j) const {
  return blocks_ ? (*blocks_)(j) : j;
}

std::uint64_t Epoch::laid_out(std::uint64_t position) const {
  LEAT_CHECK(position < size());
  return samples_ ? (*samples_)(position) : position;
}

std::uint64_t Epoch::stored_at(std::uint64_t position) const {
  LEAT_CHECK(shuffle_ != Shuffle::block);
  return laid_out(position);
}

std::uint64_t Epoch::window_of(std::uint64_t position) const {
  LEAT_CHECK(position < size());
  return run_of(window_begins_, position);
}

Window Epoch::window(std::uint64_t w) const {
  LEAT_CHECK(w < window_count());
  Window window;
  window.begins_.push_back(0);
  for (std::uint64_t j = first_block(w); j < first_block(w + 1); ++j) {
    const std::uint64_t block = block_at(j);
    window.blocks_.push_back(block);
    window.begins_.push_back(window.begins_.back() + counts_[block]);
  }
  if (shuffle_ == Shuffle::block) window.samples_.emplace(window.size(), key(kSampleLevel, w));
  return window;
}

Place Epoch::at(std::uint64_t position) const {
  return Cursor(*this).at(position);
}

Place Cursor::at(std::uint64_t position) {
  const std::uint64_t laid_out = epoch_.laid_out(position);
  const std::uint64_t number = epoch_.window_of(laid_out);
  if (number_ != number) {
    window_ = epoch_.window(number);
    number_ = number;
  }
  return window_.at(laid_out - epoch_.window_begin(number));
}

}  // namespace leat::order
