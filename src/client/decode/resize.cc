#include <algorithm>
#include <cmath>

#include "decode/formats.h"

namespace leat::decode {
namespace {

constexpr unsigned kWeightBits = 8;
constexpr std::uint32_t kWhole = 1U << kWeightBits;

// Which pixel, and how much of the one behind it.
struct Tap {
  std::uint32_t first = 0;
  std::uint32_t weight = 0;
};

Tap tap_of(double begin, double wanted, std::uint32_t steps, std::uint32_t step,
           std::uint32_t pixels) {
  const double at = begin + (step + 0.5) * wanted / steps - 0.5;
  const double inside = std::clamp(at, 0.0, static_cast<double>(pixels - 1));
  Tap tap;
  tap.first = std::min(static_cast<std::uint32_t>(inside), pixels - 1);
  tap.weight = static_cast<std::uint32_t>((inside - tap.first) * kWhole + 0.5);
  // Behind the last pixel there is none.
  if (tap.first + 1 >= pixels) tap.weight = 0;
  return tap;
}

}  // namespace

void resize(const Picture& picture, bool is_mirrored, const ImageCall& call,
            Scratch::Parts& parts) {
  const std::uint32_t width = call.options.width;
  const std::uint32_t height = call.options.height;
  parts.columns.resize(width);
  parts.weights.resize(width);
  for (std::uint32_t x = 0; x < width; ++x) {
    const Tap tap = tap_of(picture.x, picture.wanted_width, width, x, picture.width);
    const std::uint32_t to = is_mirrored ? width - 1 - x : x;
    parts.columns[to] = tap.first * 3;
    parts.weights[to] = static_cast<std::uint16_t>(tap.weight);
  }
  std::uint8_t* out = call.target.data();
  for (std::uint32_t y = 0; y < height; ++y) {
    const Tap tap = tap_of(picture.y, picture.wanted_height, height, y, picture.height);
    const std::uint8_t* upper = picture.pixels + tap.first * picture.stride;
    const std::uint8_t* lower = tap.weight > 0 ? upper + picture.stride : upper;
    for (std::uint32_t x = 0; x < width; ++x) {
      const std::uint32_t at = parts.columns[x];
      const std::uint32_t right = parts.weights[x];
      const std::uint32_t next = right > 0 ? at + 3 : at;
      for (std::uint32_t c = 0; c < 3; ++c) {
        const std::uint32_t top = upper[at + c] * (kWhole - right) + upper[next + c] * right;
        const std::uint32_t bottom = lower[at + c] * (kWhole - right) + lower[next + c] * right;
        const std::uint32_t sum = top * (kWhole - tap.weight) + bottom * tap.weight;
        *out++ =
            static_cast<std::uint8_t>((sum + (1U << (2 * kWeightBits - 1))) >> (2 * kWeightBits));
      }
    }
  }
}

Status check_size(std::uint64_t width, std::uint64_t height) {
  if (width == 0 || height == 0) return fail(Errc::bad_request, "an image without pixels");
  if (width > kPixelsMax || height > kPixelsMax || width * height > kPixelsMax) {
    return fail(Errc::too_large, "an image of too many pixels");
  }
  return {};
}

ImageKind kind_of(Bytes image) {
  const std::string_view text = as_text(image);
  if (text.starts_with("\xFF\xD8\xFF")) return ImageKind::jpeg;
  if (text.starts_with("\x89PNG\r\n\x1A\n")) return ImageKind::png;
  if (text.size() >= 12 && text.starts_with("RIFF") && text.substr(8, 4) == "WEBP") {
    return ImageKind::webp;
  }
  return ImageKind::other;
}

}  // namespace leat::decode
