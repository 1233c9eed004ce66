#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "decode/decode.h"

namespace leat::decode {
namespace {

// A file as NumPy writes it, but for what the header says.
std::string npy(std::string_view header, std::string_view data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, 0};
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  if (version > 1) file += {0, 0};
  file += header;
  file += data;
  return file;
}

constexpr std::string_view kHeader =
    "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }         \n";
const std::string kData("\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00", 12);

Options wanted(To to) {
  return {.to = to, .dtype = Dtype::int16, .shape = {2, 3}};
}

// What stands in the target afterwards, or nothing.
std::string decoded(std::string_view file, const Options& options) {
  std::string target(size_of(options), '?');
  Scratch scratch;
  const Status done = decode_dense(as_bytes(file), options, 0, scratch,
                                   {reinterpret_cast<std::uint8_t*>(target.data()), target.size()});
  if (done) return target;
  EXPECT_EQ(done.error().code(), Errc::bad_request);
  EXPECT_EQ(target, std::string(target.size(), '\0')) << "nothing that is half of it";
  return "";
}

TEST(Array, RawBytesHaveExactlyTheSizeOfTheShape) {
  EXPECT_EQ(size_of(wanted(To::raw)), 12U);
  EXPECT_EQ(decoded(kData, wanted(To::raw)), kData);
  EXPECT_EQ(decoded(kData.substr(1), wanted(To::raw)), "");
  EXPECT_EQ(decoded(kData + "x", wanted(To::raw)), "");
  const Options truth{.to = To::raw, .dtype = Dtype::boolean, .shape = {2}};
  EXPECT_EQ(decoded(std::string("\1\0", 2), truth), std::string("\1\0", 2));
  EXPECT_EQ(decoded("\1\2", truth), "");
  const Options scalar{.to = To::raw, .dtype = Dtype::float32};
  EXPECT_EQ(decoded("abcd", scalar), "abcd");
}

TEST(Array, NpyFilesOfAllVersionsAreRead) {
  for (const char version : {'\1', '\2', '\3'})
    EXPECT_EQ(decoded(npy(kHeader, kData, version), wanted(To::npy)), kData);
  EXPECT_EQ(
      decoded(npy("{'shape':(2,3),'descr':'<i2','fortran_order':False}", kData), wanted(To::npy)),
      kData);
  const Options line{.to = To::npy, .dtype = Dtype::uint8, .shape = {3}};
  EXPECT_EQ(decoded(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (3,), }\n", "abc"), line),
            "abc");
  const Options scalar{.to = To::npy, .dtype = Dtype::uint8};
  EXPECT_EQ(decoded(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", "a"), scalar),
            "a");
}

TEST(Array, NpyFilesOfAnotherTypeOrShapeAreRefused) {
  for (const std::string_view header : {
           "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }",
           "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }",
           "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }",
           "{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2, 3), }",
           "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), }",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (6,), }",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3, 1), }",
       }) {
    EXPECT_EQ(decoded(npy(header, kData), wanted(To::npy)), "") << header;
  }
}

TEST(Array, HostileHeadersAreRefused) {
  for (const std::string_view header : {
           "",
           "{",
           "}",
           "{}",
           "{'descr': '<i2'}",
           "{'descr': '<i2",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (2 3)}",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (02, 3)}",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (-2, 3)}",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)} x",
           "{'descr': '<i2', 'fortran_order': False 'shape': (2, 3)}",
           "{'descr': '<i2', 'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
           "{'descr': '<i2', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,2,3)}",
       }) {
    EXPECT_EQ(decoded(npy(header, kData), wanted(To::npy)), "") << header;
  }
  const std::string file = npy(kHeader, kData);
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_EQ(decoded(std::string_view(file).substr(0, size), wanted(To::npy)), "") << size;
  EXPECT_EQ(decoded(file + "x", wanted(To::npy)), "");
  EXPECT_EQ(decoded(npy(kHeader, kData, 4), wanted(To::npy)), "") << "an unknown version";
}

}  // namespace
}  // namespace leat::decode
