#include <webp/decode.h>

#include "decode/formats.h"

namespace leat::decode {

Status decode_webp(const ImageCall& call, Scratch::Parts& parts) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(call.image.data());
  int width = 0;
  int height = 0;
  if (WebPGetInfo(data, call.image.size(), &width, &height) == 0 || width < 0 || height < 0) {
    return fail(Errc::bad_request, "WebP: a head that makes no sense");
  }
  const auto w = static_cast<std::uint32_t>(width);
  const auto h = static_cast<std::uint32_t>(height);
  LEAT_DO(check_size(w, h));
  parts.pixels.resize(std::size_t{w} * h * 3);
  if (WebPDecodeRGBInto(data, call.image.size(), parts.pixels.data(), parts.pixels.size(),
                        width * 3) == nullptr) {
    return fail(Errc::bad_request, "WebP: a damaged image");
  }
  const Box box = choose_box(w, h, call.options, call.key);
  resize({.pixels = parts.pixels.data(),
          .stride = std::size_t{w} * 3,
          .width = w,
          .height = h,
          .x = static_cast<double>(box.x),
          .y = static_cast<double>(box.y),
          .wanted_width = static_cast<double>(box.width),
          .wanted_height = static_cast<double>(box.height)},
         box.is_mirrored, call, parts);
  return {};
}

}  // namespace leat::decode
