#include "hash/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace leat::hash {
namespace {

using enum ChecksumAlgorithm;

std::string base64_of(ChecksumAlgorithm algorithm, std::string_view text) {
  Checksum checksum(algorithm);
  checksum.update(as_bytes(text));
  return checksum.finish().base64();
}

struct Vector {
  std::string text;
  std::string_view crc32;
  std::string_view crc32c;
  std::string_view crc64nvme;
};

// Values that S3 clients send, computed by an independent program.
TEST(Checksum, MatchesWhatS3ClientsSend) {
  const Vector vectors[] = {
      {"", "AAAAAA==", "AAAAAA==", "AAAAAAAAAAA="},
      {"hello", "NhCmhg==", "mnG7TA==", "M3eFcAZSQlc="},
      {"123456789", "y/Q5Jg==", "4waSgw==", "rosUhgp5mIg="},
      {std::string(1024, 'A'), "tzf7Gg==", "9mB6kg==", "Qeh8oXvGiSo="},
  };
  for (const Vector& vector : vectors) {
    EXPECT_EQ(base64_of(crc32, vector.text), vector.crc32);
    EXPECT_EQ(base64_of(crc32c, vector.text), vector.crc32c);
    EXPECT_EQ(base64_of(crc64nvme, vector.text), vector.crc64nvme);
  }
  EXPECT_EQ(base64_of(sha1, "hello"), "qvTGHdzF6KLavt4PO0gs2a6pQ00=");
  EXPECT_EQ(base64_of(sha256, "hello"), "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=");
}

TEST(Checksum, PiecesGiveWhatTheWholeGivesAndAnotherRunStartsAnew) {
  for (const ChecksumAlgorithm algorithm : kChecksumAlgorithms) {
    Checksum checksum(algorithm);
    for (int run = 0; run < 2; ++run) {
      checksum.update(as_bytes("he"));
      checksum.update({});
      checksum.update(as_bytes("llo"));
      EXPECT_EQ(checksum.finish().base64(), base64_of(algorithm, "hello")) << word_of(algorithm);
    }
  }
}

// Three parts of 5 MiB, joined: the FULL_OBJECT checksum of a multipart upload.
TEST(Checksum, PartsCombineIntoTheWholeObject) {
  constexpr std::uint64_t kPart = 5 * kMiB;
  const struct {
    ChecksumAlgorithm algorithm;
    std::string_view parts[3];
    std::string_view whole;
  } uploads[] = {
      {crc32, {"JRTCyQ==", "QoZTGg==", "YAgjqw=="}, "WgDhBQ=="},
      {crc32c, {"MDaLrw==", "TH4EZg==", "Z7mBIQ=="}, "xU+Krw=="},
      {crc64nvme, {"L/E4WYn8v98=", "xW1l19VobYM=", "cK5MnNaWrW4="}, "i+6LR0y3eFo="},
  };
  for (const auto& upload : uploads) {
    EXPECT_EQ(base64_of(upload.algorithm, std::string(kPart, 'A')), upload.parts[0]);
    auto whole = ChecksumValue::from_base64(upload.algorithm, upload.parts[0]);
    for (const std::string_view part : {upload.parts[1], upload.parts[2]}) {
      const auto value = ChecksumValue::from_base64(upload.algorithm, part);
      whole = combine(whole.value(), value.value(), kPart);
    }
    EXPECT_EQ(whole->base64(), upload.whole) << word_of(upload.algorithm);
  }
}

TEST(Checksum, CombinesPiecesOfAnySize) {
  const std::string text(300, 'x');
  for (const ChecksumAlgorithm algorithm : {crc32, crc32c, crc64nvme}) {
    const auto whole = ChecksumValue::from_base64(algorithm, base64_of(algorithm, text));
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      Checksum first(algorithm);
      Checksum second(algorithm);
      first.update(as_bytes(text.substr(0, cut)));
      second.update(as_bytes(text.substr(cut)));
      EXPECT_EQ(combine(first.finish(), second.finish(), text.size() - cut), whole) << cut;
    }
  }
}

TEST(Checksum, NamesAreFoundWithoutCaseAndNothingElseIs) {
  for (const ChecksumAlgorithm algorithm : kChecksumAlgorithms) {
    EXPECT_EQ(algorithm_from_word(word_of(algorithm)), algorithm);
    EXPECT_EQ(algorithm_from_header(header_of(algorithm)), algorithm);
  }
  EXPECT_EQ(algorithm_from_word("crc64nvme"), crc64nvme);
  EXPECT_EQ(algorithm_from_header("X-Amz-Checksum-Sha256"), sha256);
  for (const std::string_view name : {"", "CRC", "CRC32D", "MD5", "x-amz-checksum-crc32"})
    EXPECT_EQ(algorithm_from_word(name), std::nullopt) << name;
  for (const std::string_view name : {"x-amz-checksum-", "x-amz-checksum-md5", "CRC32"})
    EXPECT_EQ(algorithm_from_header(name), std::nullopt) << name;
}

TEST(Checksum, ValuesOfTheWrongSizeOrSpellingAreRefused) {
  EXPECT_TRUE(ChecksumValue::from_base64(crc32, "NhCmhg==").has_value());
  for (const std::string_view text : {"", "NhCmhg", "NhCmhg=", "NhCmhh==", "M3eFcAZSQlc=", "****"})
    EXPECT_EQ(ChecksumValue::from_base64(crc32, text), std::nullopt) << text;
}

}  // namespace
}  // namespace leat::hash
