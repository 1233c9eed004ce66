#include "sim/content.h"

#include <algorithm>

#include "base/check.h"

namespace leat::sim {

std::size_t Content::read(std::uint64_t offset, MutableBytes target) const {
  if (offset >= size_) return 0;
  const std::size_t total = std::min<std::uint64_t>(target.size(), size_ - offset);
  for (std::size_t done = 0; done < total;) {
    const std::uint64_t at = (offset + done) % kPageBytes;
    const std::size_t count = std::min<std::uint64_t>(total - done, kPageBytes - at);
    const auto& page = pages_[(offset + done) / kPageBytes];
    if (page) {
      std::copy_n(page->begin() + static_cast<std::ptrdiff_t>(at), count,
                  target.begin() + static_cast<std::ptrdiff_t>(done));
    } else {
      std::fill_n(target.begin() + static_cast<std::ptrdiff_t>(done), count, std::byte{0});
    }
    done += count;
  }
  return total;
}

void Content::write(std::uint64_t offset, Bytes source) {
  if (source.empty()) return;
  if (offset + source.size() > size_) resize(offset + source.size());
  for (std::size_t done = 0; done < source.size();) {
    const std::uint64_t at = (offset + done) % kPageBytes;
    const std::size_t count = std::min<std::uint64_t>(source.size() - done, kPageBytes - at);
    const Bytes piece = source.subspan(done, count);
    std::ranges::copy(piece,
                      edit((offset + done) / kPageBytes).begin() + static_cast<std::ptrdiff_t>(at));
    done += count;
  }
}

void Content::resize(std::uint64_t size_bytes) {
  pages_.resize((size_bytes + kPageBytes - 1) / kPageBytes);
  const std::uint64_t tail = size_bytes % kPageBytes;
  // What is cut off must not come back when the content grows again.
  if (size_bytes < size_ && tail != 0 && pages_.back()) {
    Page& last = edit(pages_.size() - 1);
    std::fill(last.begin() + static_cast<std::ptrdiff_t>(tail), last.end(), std::byte{0});
  }
  size_ = size_bytes;
}

void Content::flip_bit(std::uint64_t offset, unsigned bit) {
  LEAT_CHECK(offset < size_ && bit < 8);
  edit(offset / kPageBytes)[offset % kPageBytes] ^= std::byte{1} << bit;
}

Content::Page& Content::edit(std::uint64_t page) {
  std::shared_ptr<Page>& slot = pages_[page];
  if (!slot) {
    slot = std::make_shared<Page>();
    slot->fill(std::byte{0});
  } else if (slot.use_count() > 1) {
    slot = std::make_shared<Page>(*slot);
  }
  return *slot;
}

}  // namespace leat::sim
