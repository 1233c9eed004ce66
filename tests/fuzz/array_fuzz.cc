// Fuzzes the decoders of numbers, arrays and texts. The first byte of an input says how, the rest
// is the sample. Checked of every input:
//   1. nothing is written outside of the target (the sanitizer sees it);
//   2. what fails is bad_request, and leaves zeros;
//   3. an array that is taken is the end of its file, byte by byte.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "decode/decode.h"

namespace {

using namespace leat;
using namespace leat::decode;

void decode_one(Bytes sample, const Options& options) {
  Scratch scratch;
  std::vector<std::uint8_t> target(size_of(options), 0xA5);
  const Status done = decode_dense(sample, options, 0, scratch, target);
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  if (!done) {
    LEAT_CHECK(done.error().code() == Errc::bad_request);
    LEAT_CHECK(std::ranges::all_of(target, is_zero));
  } else if (options.to != To::number) {
    LEAT_CHECK(std::ranges::equal(std::as_bytes(std::span(target)), sample.last(target.size())));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t how = data[0];
  const Bytes sample = std::as_bytes(std::span(data + 1, size - 1));
  Options options{.dtype = static_cast<Dtype>(how % 12)};
  if ((how & 0x20U) != 0) options.shape.push_back(2);
  if ((how & 0x40U) != 0) options.shape.push_back(3);
  for (const To to : {To::number, To::raw, To::npy}) {
    options.to = to;
    if (to == To::number)
      options.dtype =
          std::array{Dtype::int32, Dtype::int64, Dtype::float32, Dtype::float64}[how % 4];
    decode_one(sample, options);
    options.dtype = static_cast<Dtype>(how % 12);
  }
  for (const To to : {To::text, To::json}) {
    options.to = to;
    const Status checked = check_text(sample, options);
    LEAT_CHECK(checked || checked.error().code() == Errc::bad_request);
  }
  return 0;
}
