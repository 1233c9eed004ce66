// Decoding of samples into rows of dense batches: images to RGB, text to numbers, arrays; and texts
// that are checked.
//
// Inputs are hostile: whatever they are, nothing outside of the target is written, memory is
// bounded by Limits, and what is no good is an error. The same input, options and key give the same
// bytes, on every machine that has the same versions of the image libraries.
//
// Scratch is memory that one thread uses again; everything else is pure.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace leat::decode {

enum class To : std::uint8_t {
  bytes,   // as they are
  text,    // as they are, if they are UTF-8
  json,    // as they are, if they are a JSON document
  rgb8,    // an image: height × width × 3
  number,  // one that is written in decimal digits, as int32, int64, float32 or float64
  raw,     // an array of `shape` and `dtype`, its elements in the byte order of this machine
  npy,     // such an array in a file of NumPy's
};

enum class Dtype : std::uint8_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  float32,
  float64,
  boolean,
};
std::size_t size_of(Dtype dtype);

enum class Crop : std::uint8_t {
  none,            // the whole image, stretched to the size
  center,          // its middle, as large as the target's shape allows
  random_resized,  // a part of `scale` of its area and a shape of `ratio`, drawn by chance
};

struct Options {
  To to = To::bytes;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  Crop crop = Crop::center;
  std::array<double, 2> scale{0.08, 1.0};
  std::array<double, 2> ratio{3.0 / 4.0, 4.0 / 3.0};
  bool flip = false;                   // half of the images are mirrored, by chance
  Dtype dtype = Dtype::int64;          // of numbers and arrays
  std::vector<std::uint64_t> shape{};  // of arrays: at most kDimsMax, none 0
};

constexpr std::uint64_t kPixelsMax = std::uint64_t{1} << 28;
constexpr std::size_t kDimsMax = 8;
constexpr std::uint64_t kArrayBytesMax = 4 * kGiB;

// Whether each sample has the same size, else as many bytes as it came with.
constexpr bool is_dense(To to) {
  return to != To::bytes && to != To::text && to != To::json;
}

// Bytes of one decoded sample. Requires: is_dense(), and an array of at most kArrayBytesMax.
std::size_t size_of(const Options& options);

// Which pixels of an image are taken.
struct Box {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool is_mirrored = false;
  bool operator==(const Box&) const = default;
};

// Of an image of this size. `key`: what chance is drawn from.
// Requires: width and height > 0. Ensures: the box is inside the image and not empty.
Box choose_box(std::uint32_t width, std::uint32_t height, const Options& options,
               std::uint64_t key);

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(Scratch&&) noexcept;
  Scratch& operator=(Scratch&&) noexcept;

  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

// JPEG, PNG or WebP, told by its first bytes, into height × width × 3 bytes of `target`.
// Requires: target.size() == size_of(options).
// Errors: bad_request, for what is no such image or a damaged one; too_large, above kPixelsMax.
Status decode_image(Bytes image, const Options& options, std::uint64_t key, Scratch& scratch,
                    std::span<std::uint8_t> target);

// Spaces and newlines around the digits are allowed. Errors: bad_request.
// Requires: target.size() == size_of(options).
Status decode_number(Bytes text, const Options& options, std::span<std::uint8_t> target);

// An array that has exactly the type and the shape of the options. Errors: bad_request.
// Requires: target.size() == size_of(options).
Status decode_array(Bytes sample, const Options& options, std::span<std::uint8_t> target);

// Any of the dense ones. Errors: theirs; then the target is zeros.
Status decode_dense(Bytes sample, const Options& options, std::uint64_t key, Scratch& scratch,
                    std::span<std::uint8_t> target);

// Whether the bytes are what To::text or To::json says. Errors: bad_request.
Status check_text(Bytes bytes, const Options& options);

}  // namespace leat::decode
