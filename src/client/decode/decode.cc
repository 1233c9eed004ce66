#include "decode/decode.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "decode/formats.h"
#include "order/permutation.h"

namespace leat::decode {
namespace {

constexpr int kBoxTries = 10;

// Uniform in [0, 1).
double draw_unit(order::Draws& draws) {
  return static_cast<double>(draws.next() >> 11) * 0x1.0p-53;
}

double draw_between(order::Draws& draws, double low, double high) {
  return low + draw_unit(draws) * (high - low);
}

// The largest box of this shape in the middle.
Box middle(std::uint32_t width, std::uint32_t height, double ratio) {
  double w = width;
  double h = height;
  if (w / h > ratio) {
    w = h * ratio;
  } else {
    h = w / ratio;
  }
  Box box;
  box.width = std::clamp(static_cast<std::uint32_t>(std::lround(w)), 1U, width);
  box.height = std::clamp(static_cast<std::uint32_t>(std::lround(h)), 1U, height);
  box.x = (width - box.width) / 2;
  box.y = (height - box.height) / 2;
  return box;
}

Box random_box(std::uint32_t width, std::uint32_t height, const Options& options,
               order::Draws& draws) {
  const double area = static_cast<double>(width) * height;
  const double low = std::log(options.ratio[0]);
  const double high = std::log(options.ratio[1]);
  for (int attempt = 0; attempt < kBoxTries; ++attempt) {
    const double wanted = area * draw_between(draws, options.scale[0], options.scale[1]);
    const double ratio = std::exp(draw_between(draws, low, high));
    const auto w = static_cast<std::uint64_t>(std::llround(std::sqrt(wanted * ratio)));
    const auto h = static_cast<std::uint64_t>(std::llround(std::sqrt(wanted / ratio)));
    if (w == 0 || h == 0 || w > width || h > height) continue;
    Box box;
    box.width = static_cast<std::uint32_t>(w);
    box.height = static_cast<std::uint32_t>(h);
    box.x = static_cast<std::uint32_t>(draws.below(width - w + 1));
    box.y = static_cast<std::uint32_t>(draws.below(height - h + 1));
    return box;
  }
  const double ratio = static_cast<double>(width) / height;
  return middle(width, height, std::clamp(ratio, options.ratio[0], options.ratio[1]));
}

}  // namespace

Scratch::Scratch() : parts_(std::make_unique<Parts>()) {}
Scratch::~Scratch() = default;
Scratch::Scratch(Scratch&&) noexcept = default;
Scratch& Scratch::operator=(Scratch&&) noexcept = default;

std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::uint8:
    case Dtype::int8:
    case Dtype::boolean: return 1;
    case Dtype::uint16:
    case Dtype::int16:
    case Dtype::float16: return 2;
    case Dtype::uint32:
    case Dtype::int32:
    case Dtype::float32: return 4;
    case Dtype::uint64:
    case Dtype::int64:
    case Dtype::float64: return 8;
  }
  return 1;
}

std::size_t size_of(const Options& options) {
  LEAT_CHECK(is_dense(options.to));
  if (options.to == To::rgb8) return std::size_t{options.height} * options.width * 3;
  std::size_t size = size_of(options.dtype);
  if (options.to == To::number) return size;
  for (const std::uint64_t side : options.shape)
    size *= side;
  return size;
}

Box choose_box(std::uint32_t width, std::uint32_t height, const Options& options,
               std::uint64_t key) {
  LEAT_CHECK(width > 0 && height > 0);
  order::Draws draws(key);
  const bool is_mirrored = options.flip && (draws.next() & 1) != 0;
  Box box{.width = width, .height = height};
  if (options.crop == Crop::center) {
    box = middle(width, height, static_cast<double>(options.width) / options.height);
  } else if (options.crop == Crop::random_resized) {
    box = random_box(width, height, options, draws);
  }
  box.is_mirrored = is_mirrored;
  return box;
}

Status decode_image(Bytes image, const Options& options, std::uint64_t key, Scratch& scratch,
                    std::span<std::uint8_t> target) {
  LEAT_CHECK(target.size() == size_of(options));
  const ImageCall call{.image = image, .options = options, .key = key, .target = target};
  switch (kind_of(image)) {
    case ImageKind::jpeg: return decode_jpeg(call, scratch.parts());
    case ImageKind::png: return decode_png(call, scratch.parts());
    case ImageKind::webp: return decode_webp(call, scratch.parts());
    case ImageKind::other: break;
  }
  return fail(Errc::bad_request, "this is no JPEG, PNG or WebP image");
}

Status decode_dense(Bytes sample, const Options& options, std::uint64_t key, Scratch& scratch,
                    std::span<std::uint8_t> target) {
  Status decoded;
  if (options.to == To::rgb8) {
    decoded = decode_image(sample, options, key, scratch, target);
  } else if (options.to == To::number) {
    decoded = decode_number(sample, options, target);
  } else {
    decoded = decode_array(sample, options, target);
  }
  if (!decoded) std::ranges::fill(target, std::uint8_t{0});
  return decoded;
}

}  // namespace leat::decode
