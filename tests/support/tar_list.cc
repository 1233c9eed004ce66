// leat_tar_list FILE…: what Leat makes of each file as a tar, one line of JSON a file. Data are
// skipped, not read. Bytes are in hexadecimal; a member is [name, kind, start, data offset, size],
// a sample [key, has a field twice, [[field, data offset, size]…]].
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "shard/index.h"
#include "shard/scanner.h"
#include "tar/scanner.h"

namespace {

using namespace leat;

constexpr const char* kStates[] = {"undecided", "not_tar", "reading", "ended", "broken"};
constexpr const char* kKinds[] = {"file", "directory", "link", "other"};

std::string hex(std::string_view bytes) {
  return to_hex(as_bytes(bytes));
}

// Feeds a scanner with a file, passing over what it does not look at.
template <class AnyScanner>
void feed(AnyScanner& scanner, const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  LEAT_CHECK(in.is_open());
  const auto size = static_cast<std::uint64_t>(in.tellg());
  std::string buffer(4096, '\0');
  while (scanner.offset() < size) {
    if (const auto bytes = std::min(scanner.skippable(), size - scanner.offset()); bytes > 0) {
      scanner.skip(bytes);
      continue;
    }
    in.seekg(static_cast<std::streamoff>(scanner.offset()));
    const auto bytes = std::min<std::uint64_t>(buffer.size(), size - scanner.offset());
    in.read(buffer.data(), static_cast<std::streamsize>(bytes));
    scanner.feed(as_bytes(buffer).first(static_cast<std::size_t>(bytes)));
  }
}

std::string list_sample(const shard::View& view, std::uint64_t number) {
  const shard::SampleRef sample = view.sample(number);
  std::vector<std::string> fields;
  for (std::uint64_t i = 0; i < sample.member_count; ++i) {
    const shard::MemberRef member = view.member(sample.first_member + i);
    if (member.sample != number) continue;
    fields.push_back(fmt::format(R"(["{}",{},{}])", hex(view.field(*member.field)),
                                 member.data_offset, member.size_bytes));
  }
  return fmt::format(R"(["{}",{},[{}]])", hex(sample.key), sample.has_duplicate_fields,
                     fmt::join(fields, ","));
}

void list(const std::string& path) {
  std::vector<std::string> members;
  tar::Scanner scanner([&](const tar::Member& member) {
    members.push_back(fmt::format(R"(["{}","{}",{},{},{}])", hex(member.name),
                                  kKinds[static_cast<int>(member.kind)], member.start,
                                  member.data_offset, member.size_bytes));
  });
  feed(scanner, path);
  scanner.finish();

  shard::ShardScanner indexer;
  feed(indexer, path);
  const shard::Summary summary = indexer.finish();
  LEAT_CHECK(summary.is_shard == (scanner.state() == tar::Scanner::State::ended));
  std::vector<std::string> samples;
  if (summary.is_shard) {
    const std::string index = indexer.take_index();
    const auto view = shard::View::open(as_bytes(index));
    LEAT_CHECK(view.has_value() && view->member_count() == members.size());
    for (std::uint64_t i = 0; i < view->sample_count(); ++i)
      samples.push_back(list_sample(*view, i));
  }
  fmt::print(R"({{"state":"{}","problem":"{}","members":[{}],"samples":[{}]}})"
             "\n",
             kStates[static_cast<int>(scanner.state())], scanner.problem(), fmt::join(members, ","),
             fmt::join(samples, ","));
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    list(argv[i]);
  return 0;
}
