// ChunkedBody: walks the framing of a body in chunks and counts what is inside. Extensions and
// trailers are not expected by a load generator: it refuses them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace leat::benchmarks {

class ChunkedBody {
 public:
  // False when the framing is broken, or when bytes follow the last chunk.
  bool feed(std::string_view bytes) {
    while (!bytes.empty()) {
      if (has_ended_) return false;
      if (left_ > 0) {
        const std::uint64_t step = bytes.size() < left_ ? bytes.size() : left_;
        left_ -= step;
        size_bytes_ += step;
        bytes.remove_prefix(step);
        continue;
      }
      line_ += bytes.front();
      bytes.remove_prefix(1);
      if (line_.ends_with("\r\n") && !take_line()) return false;
      if (line_.size() > kLineBytesMax) return false;
    }
    return true;
  }

  bool has_ended() const { return has_ended_; }
  // What the chunks held so far.
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  static constexpr std::size_t kLineBytesMax = 32;

  // A line is the end of a chunk's data, the size of the next one, or the end of all.
  bool take_line() {
    const std::string_view text = std::string_view(line_).substr(0, line_.size() - 2);
    if (is_behind_data_ || is_last_) {
      if (!text.empty()) return false;
      has_ended_ = is_last_;
      is_behind_data_ = false;
    } else {
      const char* const end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data(), end, left_, 16);
      if (parsed.ec != std::errc{} || parsed.ptr != end) return false;
      is_last_ = left_ == 0;
      is_behind_data_ = !is_last_;
    }
    line_.clear();
    return true;
  }

  std::string line_;
  std::uint64_t left_ = 0;
  std::uint64_t size_bytes_ = 0;
  bool is_behind_data_ = false;
  bool is_last_ = false;
  bool has_ended_ = false;
};

}  // namespace leat::benchmarks
