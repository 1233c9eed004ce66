// jpeg_loop: the limit of decoding JPEGs: libjpeg-turbo over images in memory, whole and at full
// scale, one thread. Output: one line of JSON.
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <jpeglib.h>  // wants cstdio before it

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "load/die.h"

namespace leat::benchmarks {
namespace {

std::vector<std::string> read_images(const std::string& folder) {
  std::vector<std::string> images;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jpg") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    images.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>{});
  }
  if (images.empty()) die("jpeg_loop: {}: no images", folder);
  return images;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// RGB into `pixels`. A damaged image ends the program: the library's own way.
void decode(jpeg_decompress_struct& decoder, const std::string& image,
            std::vector<std::uint8_t>& pixels) {
  jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(image.data()), image.size());
  jpeg_read_header(&decoder, TRUE);
  decoder.out_color_space = JCS_RGB;
  jpeg_start_decompress(&decoder);
  const std::size_t row_bytes = std::size_t{3} * decoder.output_width;
  pixels.resize(row_bytes * decoder.output_height);
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW row = pixels.data() + decoder.output_scanline * row_bytes;
    jpeg_read_scanlines(&decoder, &row, 1);
  }
  jpeg_finish_decompress(&decoder);
}

void run(const std::string& folder, double seconds) {
  const std::vector<std::string> images = read_images(folder);
  jpeg_error_mgr errors{};
  jpeg_decompress_struct decoder{};
  decoder.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&decoder);
  std::vector<std::uint8_t> pixels;
  std::uint64_t count = 0;
  const double start = cpu_seconds();
  double spent = 0;
  while (spent < seconds) {
    for (const std::string& image : images)
      decode(decoder, image, pixels);
    count += images.size();
    spent = cpu_seconds() - start;
  }
  jpeg_destroy_decompress(&decoder);
  fmt::print("{{\"images_per_s\": {:.1f}}}\n", static_cast<double>(count) / spent);
}

}  // namespace
}  // namespace leat::benchmarks

int main(int argc, char** argv) {
  CLI::App app{"Decodes the JPEGs of a folder over and over; prints images per second of CPU."};
  std::string folder;
  double seconds = 2;
  app.add_option("folder", folder)->required();
  app.add_option("--seconds", seconds, "of CPU");
  CLI11_PARSE(app, argc, argv);
  leat::benchmarks::run(folder, seconds);
  return 0;
}
