#include <fmt/format.h>
#include <png.h>

#include "decode/formats.h"

namespace leat::decode {

Status decode_png(const ImageCall& call, Scratch::Parts& parts) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const auto refuse = [&image]() -> Status {
    Status refused = fail(Errc::bad_request, fmt::format("PNG: {}", image.message));
    png_image_free(&image);
    return refused;
  };
  if (png_image_begin_read_from_memory(&image, call.image.data(), call.image.size()) == 0) {
    return refuse();
  }
  if (Status sized = check_size(image.width, image.height); !sized) {
    png_image_free(&image);
    return sized;
  }
  image.format = PNG_FORMAT_RGB;
  parts.pixels.resize(PNG_IMAGE_SIZE(image));
  // What is transparent becomes black.
  const png_color background{};
  if (png_image_finish_read(&image, &background, parts.pixels.data(), 0, nullptr) == 0) {
    return refuse();
  }
  const Box box = choose_box(image.width, image.height, call.options, call.key);
  resize({.pixels = parts.pixels.data(),
          .stride = std::size_t{image.width} * 3,
          .width = image.width,
          .height = image.height,
          .x = static_cast<double>(box.x),
          .y = static_cast<double>(box.y),
          .wanted_width = static_cast<double>(box.width),
          .wanted_height = static_cast<double>(box.height)},
         box.is_mirrored, call, parts);
  return {};
}

}  // namespace leat::decode
