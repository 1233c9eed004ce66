// Arrays: raw bytes, and .npy files of NumPy (its format 1.0 to 3.0).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "decode/decode.h"

namespace leat::decode {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kHeaderMax = 64 * kKiB;

// What NumPy calls them, in the byte order of this machine.
constexpr std::string_view descriptor(Dtype dtype) {
  switch (dtype) {
    case Dtype::uint8: return "|u1";
    case Dtype::int8: return "|i1";
    case Dtype::uint16: return "<u2";
    case Dtype::int16: return "<i2";
    case Dtype::uint32: return "<u4";
    case Dtype::int32: return "<i4";
    case Dtype::uint64: return "<u8";
    case Dtype::int64: return "<i8";
    case Dtype::float16: return "<f2";
    case Dtype::float32: return "<f4";
    case Dtype::float64: return "<f8";
    case Dtype::boolean: return "|b1";
  }
  return "";
}

// The dict at the beginning of a .npy, read word by word: nothing but what NumPy itself writes.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  // Takes a word if it comes next; spaces before it do not count.
  bool take(std::string_view word) {
    skip_spaces();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  // The next characters up to a quote, which is taken.
  std::string_view up_to_quote() {
    const std::size_t end = std::min(text_.find('\''), text_.size());
    const std::string_view found = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    return found;
  }
  std::string_view digits() {
    skip_spaces();
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto end = std::ranges::find_if_not(text_, is_digit);
    const std::string_view found = text_.substr(0, static_cast<std::size_t>(end - text_.begin()));
    text_.remove_prefix(found.size());
    return found;
  }
  bool is_over() {
    skip_spaces();
    return text_.empty();
  }

 private:
  void skip_spaces() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n'))
      text_.remove_prefix(1);
  }

  std::string_view text_;
};

std::unexpected<Error> refuse(std::string_view why) {
  return fail(Errc::bad_request, fmt::format("npy: {}", why));
}

// "(3, 4)", "(3,)" or "()", which must be what is wanted.
Status take_shape(Words& words, const std::vector<std::uint64_t>& wanted) {
  if (!words.take("(")) return refuse("the shape is no tuple");
  std::vector<std::string> found;
  bool has_comma = true;
  while (!words.take(")")) {
    if (!has_comma || found.size() == kDimsMax) return refuse("the shape is no tuple");
    found.emplace_back(words.digits());
    has_comma = words.take(",");
    if (found.back().empty() || (!has_comma && found.size() == 1)) {
      return refuse("the shape is no tuple of numbers");
    }
  }
  const auto is_same = [](const std::string& digits, std::uint64_t number) {
    return digits == std::to_string(number);
  };
  if (std::ranges::equal(found, wanted, is_same)) return {};
  return refuse(
      fmt::format("the shape is ({}), not the one that was asked for", fmt::join(found, ", ")));
}

Status check_header(std::string_view header, const Options& options) {
  Words words(header);
  bool has_descriptor = false;
  bool has_order = false;
  bool has_shape = false;
  const auto once = [](bool& has) { return !std::exchange(has, true); };
  if (!words.take("{")) return refuse("the header is no dict");
  for (bool goes_on = !words.take("}"); goes_on;) {
    if (words.take("'descr':") && once(has_descriptor)) {
      if (!words.take("'")) return refuse("the type is not a simple one");
      const std::string_view type = words.up_to_quote();
      if (type != descriptor(options.dtype)) {
        return refuse(fmt::format("the type is {:?}, not {:?}", type, descriptor(options.dtype)));
      }
    } else if (words.take("'fortran_order':") && once(has_order)) {
      const bool is_rows = words.take("False");
      // With one dimension both orders are the same.
      if (!is_rows && !(words.take("True") && options.shape.size() <= 1)) {
        return refuse("the order is Fortran's: store it in C order");
      }
    } else if (words.take("'shape':") && once(has_shape)) {
      LEAT_DO(take_shape(words, options.shape));
    } else {
      return refuse("the header is not as NumPy writes it");
    }
    const bool has_comma = words.take(",");
    goes_on = !words.take("}");
    if (goes_on && !has_comma) return refuse("the header is not as NumPy writes it");
  }
  if (!has_descriptor || !has_order || !has_shape || !words.is_over()) {
    return refuse("the header is not as NumPy writes it");
  }
  return {};
}

// The bytes behind the header of a .npy.
Result<Bytes> npy_data(Bytes file, const Options& options) {
  const std::string_view text = as_text(file);
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + 4) {
    return refuse("this is no .npy file");
  }
  const auto byte = [&text](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[at]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) return refuse("the version is not known");
  const std::size_t begin = version == 1 ? 10 : 12;
  if (text.size() < begin) return refuse("it is cut");
  std::size_t length = byte(8) | byte(9) << 8U;
  if (version > 1) length |= byte(10) << 16U | byte(11) << 24U;
  if (length > kHeaderMax || length > text.size() - begin) return refuse("it is cut");
  LEAT_DO(check_header(text.substr(begin, length), options));
  return file.subspan(begin + length);
}

}  // namespace

Status decode_array(Bytes sample, const Options& options, std::span<std::uint8_t> target) {
  Bytes data = sample;
  if (options.to == To::npy) {
    LEAT_TRY(data, npy_data(sample, options));
  }
  if (data.size() != target.size()) {
    return fail(Errc::bad_request, fmt::format("an array of {} bytes, and {} were asked for",
                                               data.size(), target.size()));
  }
  const auto is_truth = [](std::byte byte) { return std::to_integer<unsigned>(byte) <= 1; };
  if (options.dtype == Dtype::boolean && !std::ranges::all_of(data, is_truth)) {
    return fail(Errc::bad_request, "a truth value is 0 or 1");
  }
  if (!data.empty()) std::memcpy(target.data(), data.data(), data.size());
  return {};
}

}  // namespace leat::decode
