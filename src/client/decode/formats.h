// The image formats, one function each, and what they share. Only for this module.
#pragma once

#include <vector>

#include "decode/decode.h"

namespace leat::decode {

enum class ImageKind : std::uint8_t { jpeg, png, webp, other };

// By the first bytes.
ImageKind kind_of(Bytes image);

struct ImageCall {
  Bytes image;
  const Options& options;
  std::uint64_t key;
  std::span<std::uint8_t> target;
};

// Memory that one thread uses again.
struct Scratch::Parts {
  std::vector<std::uint8_t> pixels{};  // RGB
  std::vector<std::uint8_t> line{};    // CMYK
  std::vector<std::uint32_t> columns{};
  std::vector<std::uint16_t> weights{};
};

// Errors of all: bad_request, too_large.
Status decode_jpeg(const ImageCall& call, Scratch::Parts& parts);
Status decode_png(const ImageCall& call, Scratch::Parts& parts);
Status decode_webp(const ImageCall& call, Scratch::Parts& parts);

// Errors: bad_request for an empty image, too_large.
Status check_size(std::uint64_t width, std::uint64_t height);

// RGB pixels, row by row, and the part of them that is wanted, in pixels and parts of pixels.
struct Picture {
  const std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;  // bytes of a row
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  double x = 0;
  double y = 0;
  double wanted_width = 0;
  double wanted_height = 0;
};

// Bilinear, into the target. Requires: the wanted part is inside; width and height > 0.
void resize(const Picture& picture, bool is_mirrored, const ImageCall& call, Scratch::Parts& parts);

}  // namespace leat::decode
