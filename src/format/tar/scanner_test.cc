#include "tar/scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tar/archive_fixture_test.h"

namespace leat::tar {
namespace {

using State = Scanner::State;
using Names = std::vector<std::string>;

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::string broken(std::string_view archive, Limits limits = {}) {
  const Scanned result = scan(archive, limits);
  return result.state == State::broken ? result.problem : "it is not broken";
}

// One archive with everything that a sound one can have.
std::string rich_archive() {
  const std::string long_path = std::string(300, 'd') + "/x.jpg";
  return pax(record("comment", "abc"), 'g') + file("a.jpg", "first") + file("a.cls", "") +
         Block{.name = "sub/", .type = '5'}.bytes() +
         Block{.name = "link", .type = '2', .size = octal_field(77)}.bytes() +
         pax(record("path", long_path) + record("mtime", "1.5")) +
         file("dd", std::string(1000, 'x')) + long_name(std::string(200, 'n') + ".txt") +
         long_name("target", 'K') + with_body({.name = "nn", .magic = kGnuMagic}, "gnu") +
         with_body({.name = "v7", .magic = kNoMagic}, std::string(512, '7')) +
         with_body({.name = "name", .prefix = "in/front"}, "p") +
         with_body({.name = "unknown", .type = 'Z'}, "z") + kEnd;
}

TEST(TarScanner, SaysWhereTheDataOfEachMemberStand) {
  const Scanned result = scan(file("a.jpg", "hello") + file("a.cls", "") + file("b", "x") + kEnd);
  EXPECT_EQ(result.state, State::ended) << result.problem;
  const std::vector<Member> wanted = {
      {.name = "a.jpg", .kind = Kind::file, .start = 0, .data_offset = 512, .size_bytes = 5},
      {.name = "a.cls", .kind = Kind::file, .start = 1024, .data_offset = 1536, .size_bytes = 0},
      {.name = "b", .kind = Kind::file, .start = 1536, .data_offset = 2048, .size_bytes = 1}};
  EXPECT_EQ(result.members, wanted);
}

TEST(TarScanner, ReadsEveryDialect) {
  const Scanned result = scan(rich_archive());
  EXPECT_EQ(result.state, State::ended) << result.problem;
  EXPECT_EQ(result.names(),
            (Names{"a.jpg", "a.cls", "sub/", "link", std::string(300, 'd') + "/x.jpg",
                   std::string(200, 'n') + ".txt", "v7", "in/front/name", "unknown"}));
  EXPECT_EQ(result.members[2].kind, Kind::directory);
  EXPECT_EQ(result.members[3].kind, Kind::link);
  EXPECT_EQ(result.members[3].size_bytes, 0U);
  EXPECT_EQ(result.members[8].kind, Kind::other);
  EXPECT_EQ(result.members[8].size_bytes, 1U);
}

TEST(TarScanner, ExtensionsAreAPartOfTheirMemberAndGlobalOnesAreNot) {
  const Scanned result = scan(pax(record("comment", "x"), 'g') + pax(record("path", "long")) +
                              file("short", "") + kEnd);
  ASSERT_EQ(result.members.size(), 1U);
  EXPECT_EQ(result.members[0].start, 1024U);
  EXPECT_EQ(result.members[0].data_offset, 1024U + 1024 + 512);
}

Scanned scan_in_pieces(std::string_view archive, Dice& random, bool skips) {
  Scanned result;
  Scanner scanner([&](const Member& member) { result.members.push_back(member); });
  while (!archive.empty()) {
    std::size_t bytes = std::min<std::size_t>(archive.size(), 1 + random() % 700);
    if (skips && scanner.skippable() > 0) {
      bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, scanner.skippable()));
      scanner.skip(bytes);
    } else {
      scanner.feed(as_bytes(archive.substr(0, bytes)));
    }
    archive.remove_prefix(bytes);
  }
  scanner.finish();
  result.state = scanner.state();
  result.problem = scanner.problem();
  result.offset = scanner.offset();
  return result;
}

TEST(TarScanner, PiecesAndSkipsChangeNothing) {
  const std::uint64_t seed = 20261116;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Dice random(seed);
  const std::string sound = rich_archive();
  for (int round = 0; round < 400; ++round) {
    std::string archive = sound;
    if (round % 2 == 1) archive.resize(random() % archive.size());
    if (round % 3 == 1) archive[random() % sound.size() % archive.size()] ^= '\x10';
    const Scanned whole = scan(archive);
    EXPECT_EQ(scan_in_pieces(archive, random, false), whole) << round;
    EXPECT_EQ(scan_in_pieces(archive, random, true), whole) << round;
  }
  Scanned by_bytes;
  Scanner scanner([&](const Member& member) { by_bytes.members.push_back(member); });
  for (const char& byte : sound)
    scanner.feed(as_bytes({&byte, 1}));
  scanner.finish();
  EXPECT_EQ(by_bytes.members, scan(sound).members);
  EXPECT_EQ(scanner.state(), State::ended);
}

TEST(TarScanner, OtherFilesAreNoTar) {
  Dice random(7);
  std::string noise(4096, '\0');
  for (char& byte : noise)
    byte = static_cast<char>(random());
  std::string sealed_noise = Block::sealed(noise.substr(0, 512));
  const std::string gzip = "\x1f\x8b\x08" + std::string(1000, 'x');
  const std::string zeros(20480, '\0');
  for (const std::string& bytes :
       {std::string(), std::string("short"), file("a", "").substr(0, 511), noise, sealed_noise,
        gzip, zeros, std::string(512, '\0') + file("a", "x") + kEnd,
        Block{.name = "", .magic = kNoMagic}.bytes() + kEnd,
        Block{.type = 'q', .magic = kNoMagic}.bytes() + kEnd,
        Block{.size = "no number  ", .magic = kNoMagic}.bytes() + kEnd,
        Block{.magic = kNoMagic, .prefix = "bytes behind"}.bytes() + kEnd}) {
    const Scanned result = scan(bytes);
    EXPECT_EQ(result.state, State::not_tar);
    EXPECT_EQ(result.problem, "");
    EXPECT_TRUE(result.members.empty());
  }
}

TEST(TarScanner, WhatIsNotLookedAtCanBeSkippedWithoutLimit) {
  Scanner scanner([](const Member&) {});
  EXPECT_EQ(scanner.skippable(), 0U);
  scanner.feed(as_bytes(std::string(512, 'x')));
  EXPECT_EQ(scanner.state(), State::not_tar);
  EXPECT_EQ(scanner.skippable(), kUnlimited);
  scanner.skip(1 << 20);
  scanner.finish();
  EXPECT_EQ(scanner.state(), State::not_tar);
}

TEST(TarScanner, SizesBeyondOctalAreInBase256OrPax) {
  const std::uint64_t size = std::uint64_t{20} << 30;
  std::string base256("\x80\0\0\0\0\0\0\0\0\0\0\0", 12);
  base256[7] = 5;
  for (const std::string& head :
       {Block{.size = base256}.bytes(), pax(record("size", "21474836480")) + Block{}.bytes()}) {
    std::vector<Member> members;
    Scanner scanner([&](const Member& member) { members.push_back(member); });
    scanner.feed(as_bytes(head));
    ASSERT_EQ(members.size(), 1U);
    EXPECT_EQ(members[0].size_bytes, size);
    EXPECT_EQ(scanner.skippable(), size);
    scanner.skip(size);
    scanner.feed(as_bytes(kEnd));
    scanner.finish();
    EXPECT_EQ(scanner.state(), State::ended);
  }
}

TEST(TarScanner, SizesThatAreNoneBreakIt) {
  EXPECT_EQ(broken(Block{.size = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"}.bytes()),
            "a negative size (at byte 0)");
  EXPECT_EQ(
      broken(Block{.size = std::string("\x80\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12)}.bytes()),
      "a size that is no number, or too large (at byte 0)");
  EXPECT_EQ(
      broken(Block{.size = std::string("\x80\0\0\0\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12)}.bytes()),
      "a size that is too large (at byte 0)");
  for (const std::string size :
       {"-0000000001", "0x000000001", "1 1", "8", "+1", "1_1", "0o7", "1\t"}) {
    EXPECT_EQ(broken(Block{.size = size}.bytes()),
              "a size that is no number, or too large (at byte 0)")
        << size;
  }
  EXPECT_EQ(broken(Block{.size = std::string("1\0001", 3)}.bytes()),
            "a size that is no number, or too large (at byte 0)");
  EXPECT_EQ(scan(Block{.size = "  1 "}.bytes() + padded("x") + kEnd).members.at(0).size_bytes, 1U);
}

TEST(TarScanner, SizesThatDisagreeBreakIt) {
  // Another member could hide in the bytes between the two ends (CVE-2025-62518).
  const std::string hidden = file("hidden", "x");
  EXPECT_EQ(broken(pax(record("size", fmt::to_string(hidden.size()))) +
                   Block{.size = octal_field(1)}.bytes() + hidden + kEnd),
            "the sizes in the PAX records and in the header differ (at byte 1024)");
  EXPECT_EQ(broken(pax(record("size", "0")) + file("a", "x") + kEnd),
            "the sizes in the PAX records and in the header differ (at byte 1024)");
  EXPECT_EQ(scan(pax(record("size", "1")) + file("a", "x") + kEnd).state, State::ended);
}

TEST(TarScanner, PaxRecordsAreReadStrictly) {
  for (const std::string records :
       {"path=a\n", "12path=abc\n", "11 path=abc\n", "13 path=abc\n", "12 path=abc",
        "12 path:abc\n", "8 =abcd\n", "999999999999 path=abc\n", "x", "0 \n", " 12 path=abc\n"}) {
    EXPECT_EQ(broken(pax(records) + file("a", "") + kEnd), "a malformed PAX record (at byte 512)")
        << records;
  }
  EXPECT_EQ(broken(pax(record("path", "a") + record("path", "b")) + file("a", "") + kEnd),
            "two PAX paths (at byte 512)");
  EXPECT_EQ(broken(pax(record("size", "0") + record("size", "0")) + file("a", "") + kEnd),
            "two PAX sizes (at byte 512)");
  for (const std::string size : {"", "-1", " 1", "1.5", "9223372036854775808"}) {
    EXPECT_EQ(broken(pax(record("size", size)) + file("a", "") + kEnd),
              "a PAX size that is no number, or too large (at byte 512)");
  }
  for (const std::string& path : {std::string(), std::string("a\0b", 3)}) {
    EXPECT_EQ(broken(pax(record("path", path)) + file("a", "") + kEnd),
              "a PAX path that is no name (at byte 512)");
  }
  EXPECT_EQ(broken(pax(record("hdrcharset", "latin1")) + file("a", "") + kEnd),
            "an unknown hdrcharset (at byte 512)");
  EXPECT_EQ(scan(pax("") + file("a", "") + kEnd).names(), Names{"a"});
}

TEST(TarScanner, RecordsInThePaddingBreakIt) {
  Block block{.type = 'x', .size = octal_field(record("mtime", "1").size())};
  const std::string archive =
      block.bytes() + padded(record("mtime", "1") + record("path", "smuggled")) + file("a", "");
  EXPECT_EQ(broken(archive + kEnd), "an extension with bytes in its padding (at byte 512)");
}

TEST(TarScanner, SparseMembersBreakIt) {
  EXPECT_EQ(broken(pax(record("GNU.sparse.major", "1")) + file("a", "") + kEnd),
            "sparse members are not supported (at byte 512)");
  EXPECT_EQ(broken(Block{.type = 'S', .magic = kGnuMagic}.bytes() + kEnd),
            "sparse members are not supported (at byte 0)");
  std::string with_map = Block{.magic = kGnuMagic}.bytes();
  with_map[386] = '0';
  EXPECT_EQ(broken(Block::sealed(with_map) + kEnd),
            "bytes where other formats have a part of the name (at byte 0)");
}

TEST(TarScanner, LabelsAndPartsOfVolumesBreakIt) {
  EXPECT_EQ(broken(Block{.type = 'V', .magic = kGnuMagic}.bytes() + kEnd),
            "volume labels are not supported (at byte 0)");
  EXPECT_EQ(broken(Block{.type = 'M', .magic = kGnuMagic}.bytes() + kEnd),
            "it continues another volume (at byte 0)");
}

TEST(TarScanner, ExtensionsThatContradictEachOtherBreakIt) {
  const std::string x = pax(record("path", "b"));
  const std::string no_path = pax(record("mtime", "1"));
  const std::string l = long_name("c");
  const std::string k = long_name("c", 'K');
  const std::string g = pax(record("comment", "1"), 'g');
  const std::string a = file("a", "") + kEnd;
  for (const std::string& archive :
       {x + x + a, l + l + a, k + k + a, x + l + a, l + x + a, x + g + a}) {
    EXPECT_TRUE(broken(archive).starts_with("extensions that contradict each other"));
  }
  for (const std::string& archive :
       {l + k + a, k + l + a, no_path + l + a, l + no_path + a, g + l + a}) {
    EXPECT_EQ(scan(archive).names(), Names{"c"});
  }
  EXPECT_EQ(broken(pax(record("path", "b"), 'g') + a),
            "a global PAX header that names or sizes all members (at byte 512)");
  EXPECT_EQ(broken(x + kEnd), "an extension without its member (at byte 1024)");
  EXPECT_EQ(broken(g + kEnd), "an extension without its member (at byte 1024)");
  EXPECT_EQ(broken(g), "truncated: an extension without its member (at byte 1024)");
}

TEST(TarScanner, ExtensionsAndNamesAreBounded) {
  const Limits limits{.extension_max_bytes = 1000, .name_max_bytes = 600};
  const std::string a = file("a", "") + kEnd;
  EXPECT_EQ(broken(long_name(std::string(1000, 'n')) + a, limits),
            "an extension that is too large (at byte 0)");
  EXPECT_EQ(broken(long_name(std::string(601, 'n')) + a, limits),
            "a name that is too long (at byte 1536)");
  EXPECT_EQ(broken(pax(record("path", std::string(601, 'n'))) + a, limits),
            "a name that is too long (at byte 1536)");
  EXPECT_EQ(scan(long_name(std::string(600, 'n')) + a, limits).state, State::ended);
}

TEST(TarScanner, NamesThatReadersDifferAboutBreakIt) {
  EXPECT_EQ(broken(Block{.name = ""}.bytes() + kEnd), "a member without a name (at byte 0)");
  EXPECT_EQ(broken(Block{.prefix = "in/"}.bytes() + kEnd),
            "a name prefix that ends in a slash (at byte 0)");
  EXPECT_EQ(broken(Block{.magic = kGnuMagic, .prefix = "00000000001"}.bytes() + kEnd),
            "bytes where other formats have a part of the name (at byte 0)");
  EXPECT_EQ(broken(file("a/", "x") + kEnd), "a file whose name ends in a slash (at byte 0)");
  EXPECT_EQ(broken(pax(record("path", "b/")) + file("a", "") + kEnd),
            "a file whose name ends in a slash (at byte 1024)");
  EXPECT_EQ(broken(file("a/", "") + kEnd), "a file whose name ends in a slash (at byte 0)");
  EXPECT_EQ(broken(with_body({.name = "a/", .type = 'Z'}, "x") + kEnd),
            "a file whose name ends in a slash (at byte 0)");
  EXPECT_EQ(broken(long_name("long/") + Block{.type = '\0'}.bytes() + kEnd),
            "a file whose name ends in a slash (at byte 1024)");
  EXPECT_EQ(scan(Block{.name = "a/", .type = '\0'}.bytes() + kEnd).members.at(0).kind,
            Kind::directory);
  const std::string two_names =
      with_body({.type = 'L', .magic = kGnuMagic}, std::string_view("one\0two", 7));
  EXPECT_EQ(broken(two_names + file("a", "") + kEnd),
            "a long name with bytes behind its end (at byte 512)");
}

TEST(TarScanner, LinksDirectoriesAndDevicesHaveNoData) {
  for (const char type : {'1', '2', '3', '4', '5', '6'}) {
    const Scanned result =
        scan(Block{.type = type, .size = octal_field(5)}.bytes() + file("b", "x") + kEnd);
    ASSERT_EQ(result.state, State::ended) << type << result.problem;
    EXPECT_EQ(result.names(), (Names{"a.jpg", "b"}));
    EXPECT_EQ(result.members[0].size_bytes, 0U);
    EXPECT_NE(result.members[0].kind, Kind::file);
    EXPECT_EQ(broken(pax(record("size", "5")) + Block{.type = type}.bytes() + kEnd),
              "a link, directory or device with a size (at byte 1024)");
  }
}

TEST(TarScanner, AHardLinkWithASizeInAPaxArchiveIsAmbiguous) {
  EXPECT_EQ(broken(pax(record("comment", "x"), 'g') +
                   Block{.type = '1', .size = octal_field(5)}.bytes() + padded("hello") + kEnd),
            "a link, directory or device with a size (at byte 1024)");
  constexpr std::string_view kNoVersion("ustar\0\0\0", 8);
  EXPECT_EQ(broken(Block{.type = '1', .size = octal_field(5), .magic = kNoVersion}.bytes() + kEnd),
            "a link, directory or device with a size (at byte 0)");
  EXPECT_EQ(scan(Block{.magic = kNoVersion, .prefix = "in"}.bytes() + kEnd).names(),
            Names{"in/a.jpg"});
}

TEST(TarScanner, OneZeroBlockAtTheEndIsEnough) {
  const std::string a = file("a", "x");
  EXPECT_EQ(scan(a + std::string(512, '\0')).state, State::ended);
  EXPECT_EQ(scan(a + std::string(700, '\0')).state, State::ended);
  EXPECT_EQ(scan(a + std::string(10240, '\0')).state, State::ended);
  EXPECT_EQ(scan(a + std::string(10241, '\0')).state, State::ended);
  EXPECT_EQ(broken(a + std::string(512, '\0') + a + kEnd), "a lone zero block (at byte 1024)");
  EXPECT_EQ(broken(a + std::string(512, '\0') + "x"), "a lone zero block (at byte 1024)");
}

TEST(TarScanner, WhatFollowsTheEndIsZero) {
  const std::string a = file("a", "x");
  EXPECT_EQ(broken(a + kEnd + a + kEnd),
            "archives were concatenated: another one begins behind the end blocks (at byte 2048)");
  EXPECT_EQ(broken(a + kEnd + std::string(8192, '\0') + a + kEnd),
            "archives were concatenated: another one begins behind the end blocks (at byte 10240)");
  EXPECT_EQ(broken(a + kEnd + "more"), "bytes behind the end-of-archive blocks (at byte 2048)");
  EXPECT_EQ(broken(a + kEnd + std::string(512, 'x')),
            "bytes behind the end-of-archive blocks (at byte 2048)");
}

TEST(TarScanner, EveryTruncationIsNoticed) {
  const std::string archive = rich_archive();
  const std::size_t end = archive.size() - kEnd.size();
  for (std::size_t size = 0; size < archive.size(); ++size) {
    const Scanned result = scan(archive.substr(0, size));
    const State wanted = size < 512         ? State::not_tar
                         : size < end + 512 ? State::broken
                                            : State::ended;
    ASSERT_EQ(result.state, wanted) << size;
    if (wanted == State::broken) {
      ASSERT_TRUE(result.problem.starts_with("truncated")) << size;
    }
  }
  EXPECT_EQ(broken(archive.substr(0, end)),
            fmt::format("truncated: no end-of-archive blocks (at byte {})", end));
}

TEST(TarScanner, DamagedHeadersBreakIt) {
  std::string archive = file("a", "x") + file("b", "y") + kEnd;
  archive[1024] ^= 1;
  EXPECT_EQ(broken(archive), "no header where one must be (at byte 1024)");
  std::string number = Block{}.bytes();
  number[110] = 'x';
  EXPECT_EQ(broken(file("a", "") + Block::sealed(number) + kEnd),
            "a number that is none (at byte 512)");
  EXPECT_EQ(broken(file("a", "") + Block{.type = '&'}.bytes() + kEnd),
            "a type that no format has (at byte 512)");
}

}  // namespace
}  // namespace leat::tar
