// JPEG by libjpeg-turbo: only the wanted part is decoded, at the smallest scale that is no smaller
// than the target.
//
// The library reports errors by a function that must not return: it leaves by longjmp(). So the
// function that calls the library has no objects with destructors; what it needs is in Reader.
#include <fmt/format.h>
// The library's header wants these first.
#include <csetjmp>
#include <cstdio>
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <array>
#include <cstring>

#include "decode/formats.h"

namespace leat::decode {
namespace {

constexpr int kScansMax = 500;  // of a progressive image: more are an attack
constexpr std::array<unsigned, 4> kScales = {1, 2, 4, 8};  // eighths that have fast code

struct Reader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf leave{};
  std::array<char, JMSG_LENGTH_MAX> message{};
  const ImageCall* call = nullptr;
  Scratch::Parts* parts = nullptr;

  // What is wanted.
  Box box{};
  unsigned eighths = 8;
  bool is_cmyk = false;
  std::uint32_t top = 0;  // of the scaled image
  std::uint32_t bottom = 0;
  std::uint32_t left = 0;
  std::uint32_t row_pixels = 0;
  Errc refused{};
  bool is_refused = false;
  bool is_damaged = false;
};

void on_error(j_common_ptr common) {
  auto* reader = static_cast<Reader*>(common->client_data);
  common->err->format_message(common, reader->message.data());
  std::longjmp(reader->leave, 1);
}

// The library goes on after damage, with grey where something is missing: not so here. What it only
// finds odd, as other readers do, is no damage.
void on_message(j_common_ptr common, int level) {
  if (level >= 0) return;
  switch (common->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA: return;
    default: static_cast<Reader*>(common->client_data)->is_damaged = true;
  }
}

void on_progress(j_common_ptr common) {
  auto* reader = static_cast<Reader*>(common->client_data);
  if (reader->info.input_scan_number <= kScansMax) return;
  std::snprintf(reader->message.data(), reader->message.size(), "too many scans");
  std::longjmp(reader->leave, 1);
}

unsigned scale_for(const Box& box, const Options& options) {
  for (const unsigned eighths : kScales) {
    const bool is_enough = std::uint64_t{box.width} * eighths / 8 >= options.width &&
                           std::uint64_t{box.height} * eighths / 8 >= options.height;
    if (is_enough) return eighths;
  }
  return 8;
}

// The part of the scaled image that has the box.
void choose_part(Reader& reader) {
  jpeg_decompress_struct& info = reader.info;
  reader.box =
      choose_box(info.image_width, info.image_height, reader.call->options, reader.call->key);
  reader.eighths = scale_for(reader.box, reader.call->options);
  info.scale_num = reader.eighths;
  info.scale_denom = 8;
  info.dct_method = JDCT_ISLOW;
  reader.is_cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = reader.is_cmyk ? JCS_CMYK : JCS_RGB;
}

void from_cmyk(const Reader& reader, const std::uint8_t* line, std::uint8_t* out) {
  // Adobe writes them inverted.
  const bool is_inverted = reader.info.saw_Adobe_marker != 0;
  for (std::uint32_t i = 0; i < reader.row_pixels; ++i, line += 4) {
    for (int c = 0; c < 3; ++c) {
      const unsigned ink = is_inverted ? line[c] : 255U - line[c];
      const unsigned black = is_inverted ? line[3] : 255U - line[3];
      *out++ = static_cast<std::uint8_t>(ink * black / 255U);
    }
  }
}

// Requires: no object with a destructor lives in it: the library may leave it by longjmp().
bool read_pixels(Reader& reader) {
  jpeg_decompress_struct& info = reader.info;
  if (setjmp(reader.leave) != 0) return false;
  jpeg_create_decompress(&info);
  info.client_data = &reader;
  reader.progress.progress_monitor = on_progress;
  info.progress = &reader.progress;
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(reader.call->image.data()),
               static_cast<unsigned long>(reader.call->image.size()));
  jpeg_read_header(&info, TRUE);
  if (std::uint64_t{info.image_width} * info.image_height > kPixelsMax) {
    reader.is_refused = true;
    reader.refused = Errc::too_large;
    std::snprintf(reader.message.data(), reader.message.size(), "too many pixels");
    return false;
  }
  choose_part(reader);
  jpeg_start_decompress(&info);
  const Box& box = reader.box;
  const unsigned scale = reader.eighths;
  reader.top = std::min(box.y * scale / 8, info.output_height - 1);
  reader.bottom = std::min((box.y + box.height) * scale / 8 + 1, info.output_height);
  JDIMENSION left = std::min(box.x * scale / 8, info.output_width - 1);
  JDIMENSION width = std::min((box.x + box.width) * scale / 8 + 1, info.output_width) - left;
  jpeg_crop_scanline(&info, &left, &width);
  reader.left = left;
  reader.row_pixels = width;
  reader.parts->pixels.resize(std::size_t{width} * 3 * (reader.bottom - reader.top));
  if (reader.is_cmyk) reader.parts->line.resize(std::size_t{width} * 4);
  if (reader.top > 0) jpeg_skip_scanlines(&info, reader.top);
  std::uint8_t* out = reader.parts->pixels.data();
  while (info.output_scanline < reader.bottom) {
    JSAMPROW row = reader.is_cmyk ? reader.parts->line.data() : out;
    if (jpeg_read_scanlines(&info, &row, 1) != 1) return false;
    if (reader.is_cmyk) from_cmyk(reader, row, out);
    out += std::size_t{width} * 3;
  }
  return true;
}

}  // namespace

Status decode_jpeg(const ImageCall& call, Scratch::Parts& parts) {
  Reader reader;
  reader.call = &call;
  reader.parts = &parts;
  reader.info.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = on_error;
  reader.errors.emit_message = on_message;
  reader.info.client_data = &reader;
  const bool is_read = read_pixels(reader);
  jpeg_destroy_decompress(&reader.info);
  if (!is_read) {
    return fail(reader.is_refused ? reader.refused : Errc::bad_request,
                fmt::format("JPEG: {}", reader.message.data()));
  }
  if (reader.is_damaged) return fail(Errc::bad_request, "JPEG: a damaged image");
  const double scale = reader.eighths / 8.0;
  resize({.pixels = parts.pixels.data(),
          .stride = std::size_t{reader.row_pixels} * 3,
          .width = reader.row_pixels,
          .height = reader.bottom - reader.top,
          .x = reader.box.x * scale - reader.left,
          .y = reader.box.y * scale - reader.top,
          .wanted_width = reader.box.width * scale,
          .wanted_height = reader.box.height * scale},
         reader.box.is_mirrored, call, parts);
  return {};
}

}  // namespace leat::decode
