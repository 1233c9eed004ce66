#include "tar/writer.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>

#include "base/check.h"

namespace leat::tar {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kNameMax = 100;
constexpr std::size_t kPrefixMax = 155;
constexpr std::uint64_t kOctalMax = 077777777777;  // eleven digits
constexpr std::string_view kPaxName = "././@PaxHeader";

struct SplitName {
  std::string_view prefix;
  std::string_view name;
};

// How ustar takes a name, if it does: whole, or cut at a slash that neither part keeps.
std::optional<SplitName> split(std::string_view name) {
  if (name.size() <= kNameMax) return SplitName{.prefix = {}, .name = name};
  std::size_t slash = name.rfind('/', kPrefixMax);
  while (slash != std::string_view::npos && slash > 0 && name.size() - slash - 1 <= kNameMax) {
    // Readers differ about a prefix that ends in a slash.
    if (name[slash - 1] != '/') {
      return SplitName{.prefix = name.substr(0, slash), .name = name.substr(slash + 1)};
    }
    slash = name.rfind('/', slash - 1);
  }
  return std::nullopt;
}

bool fits_octal(std::int64_t value) {
  return value >= 0 && static_cast<std::uint64_t>(value) <= kOctalMax;
}

// A record begins with its own length, whose digits count.
std::size_t record_bytes(std::size_t key_bytes, std::size_t value_bytes) {
  const std::size_t rest = key_bytes + value_bytes + 3;
  std::size_t length = rest;
  for (std::size_t last = 0; last != length;) {
    last = length;
    length = rest + fmt::formatted_size("{}", last);
  }
  return length;
}

void append_record(std::string& out, std::string_view key, std::string_view value) {
  out += fmt::format("{} {}=", record_bytes(key.size(), value.size()), key);
  out += value;
  out += '\n';
}

std::string pax_records(const NewMember& member) {
  std::string records;
  if (!fits_octal(member.mtime_s)) append_record(records, "mtime", fmt::to_string(member.mtime_s));
  if (!split(member.name)) append_record(records, "path", member.name);
  if (member.size_bytes > kOctalMax) {
    append_record(records, "size", fmt::to_string(member.size_bytes));
  }
  return records;
}

std::size_t pax_records_bytes(const NewMember& member) {
  std::size_t bytes = 0;
  if (!fits_octal(member.mtime_s))
    bytes += record_bytes(5, fmt::formatted_size("{}", member.mtime_s));
  if (!split(member.name)) bytes += record_bytes(4, member.name.size());
  if (member.size_bytes > kOctalMax) {
    bytes += record_bytes(4, fmt::formatted_size("{}", member.size_bytes));
  }
  return bytes;
}

void put(std::string& block, std::size_t at, std::string_view text) {
  block.replace(at, text.size(), text);
}

std::string ustar(const SplitName& name, char type, std::uint64_t size_bytes,
                  std::int64_t mtime_s) {
  std::string block(kBlock, '\0');
  put(block, 0, name.name);
  put(block, 100, "0000444");
  put(block, 108, "0000000");
  put(block, 116, "0000000");
  put(block, 124, fmt::format("{:011o}", size_bytes > kOctalMax ? 0 : size_bytes));
  put(block, 136, fmt::format("{:011o}", fits_octal(mtime_s) ? mtime_s : 0));
  put(block, 148, "        ");
  block[156] = type;
  put(block, 257,
      std::string_view("ustar\0"
                       "00",
                       8));
  put(block, 329, "0000000");
  put(block, 337, "0000000");
  put(block, 345, name.prefix);
  const auto sum = std::accumulate(block.begin(), block.end(), 0U, [](unsigned so_far, char byte) {
    return so_far + static_cast<unsigned char>(byte);
  });
  put(block, 148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  return block;
}

}  // namespace

std::string header(const NewMember& member) {
  LEAT_CHECK(!member.name.empty() && !member.name.contains('\0') && !member.name.ends_with('/'));
  std::string out;
  if (const std::string records = pax_records(member); !records.empty()) {
    out = ustar({.prefix = {}, .name = kPaxName}, 'x', records.size(), 0);
    out += records;
    out.append(padding(records.size()), '\0');
  }
  const auto name =
      split(member.name).value_or(SplitName{.prefix = {}, .name = member.name.substr(0, kNameMax)});
  out += ustar(name, '0', member.size_bytes, member.mtime_s);
  return out;
}

std::uint64_t header_bytes(const NewMember& member) {
  const std::uint64_t records = pax_records_bytes(member);
  return kBlock + (records == 0 ? 0 : kBlock + records + padding(records));
}

std::uint64_t padding(std::uint64_t size_bytes) {
  return (kBlock - size_bytes % kBlock) % kBlock;
}

}  // namespace leat::tar
