// Fuzzes the decoders of images and numbers. The first byte of an input says how, the rest is the
// image. Checked of every input:
//   1. nothing is written outside of the target (the sanitizer sees it);
//   2. what fails is bad_request or too_large;
//   3. the same input gives the same pixels.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "decode/decode.h"

namespace {

using namespace leat;
using namespace leat::decode;

bool decoded(Bytes image, const Options& options, std::uint64_t key,
             std::vector<std::uint8_t>& target) {
  Scratch scratch;
  target.assign(size_of(options), 0);
  const Status done = decode_image(image, options, key, scratch, target);
  if (done) return true;
  LEAT_CHECK(done.error().code() == Errc::bad_request || done.error().code() == Errc::too_large);
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t how = data[0];
  const Bytes image = std::as_bytes(std::span(data + 1, size - 1));
  Options options{.to = To::rgb8, .height = 1U + (how & 7U), .width = 1U + (how >> 3 & 7U)};
  options.crop = static_cast<Crop>(how % 3);
  options.flip = (how & 0x80U) != 0;
  std::vector<std::uint8_t> first;
  std::vector<std::uint8_t> second;
  const bool is_good = decoded(image, options, how, first);
  LEAT_CHECK(decoded(image, options, how, second) == is_good);
  LEAT_CHECK(!is_good || first == second);
  return 0;
}
