#include "tar/header.h"

#include <algorithm>
#include <limits>

namespace leat::tar {
namespace {

struct Field {
  std::size_t at;
  std::size_t bytes;

  std::string_view of(Bytes block) const { return as_text(block.subspan(at, bytes)); }
};

constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kUid{108, 8};
constexpr Field kGid{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kMtime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kMagic{257, 8};
constexpr Field kDeviceMajor{329, 8};
constexpr Field kDeviceMinor{337, 8};
constexpr Field kPrefix{345, 155};
constexpr Field kOwnerNames{257, 72};  // and the magic before them
constexpr Field kBehindDevices{345, 167};

// libarchive takes no longer record, whatever the size of the body.
constexpr std::uint64_t kRecordMaxBytes = 999'999;

constexpr std::string_view kSpaces(" \0", 2);

std::string_view until_nul(std::string_view field) {
  return field.substr(0, field.find('\0'));
}

// Octal digits, spaces before, spaces and NULs behind. Nothing at all is zero, as all readers have
// it.
std::optional<std::uint64_t> octal(std::string_view field) {
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  const std::string_view digits = field.substr(0, field.find_last_not_of(kSpaces) + 1);
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

constexpr char kBase256 = '\x80';
constexpr char kNegative = '\xFF';

// A number that fits 63 bits: octal, or the eleven bytes behind 0x80, highest first.
std::optional<std::uint64_t> number(std::string_view field) {
  if (field.front() != kBase256) return octal(field);
  std::uint64_t value = 0;
  for (const char byte : field.substr(1)) {
    if (value >> 55 != 0) return std::nullopt;
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

// Fields that only matter because a reader that minds them would stop here.
bool is_number(std::string_view field) {
  return field.front() == kBase256 || field.front() == kNegative || octal(field).has_value();
}

bool is_plausible_v7(Bytes block) {
  constexpr std::string_view kTypes(
      "\0"
      "012345",
      7);
  const std::string_view name = until_nul(kName.of(block));
  return !name.empty() && kTypes.contains(kType.of(block).front()) &&
         kSize.of(block).front() != kBase256 && octal(kSize.of(block)).has_value() &&
         octal(kMode.of(block)).has_value() && octal(kMtime.of(block)).has_value() &&
         octal(kDeviceMajor.of(block)).has_value() && octal(kDeviceMinor.of(block)).has_value() &&
         is_zero(as_bytes(kOwnerNames.of(block))) && is_zero(as_bytes(kBehindDevices.of(block)));
}

bool is_type(char type) {
  return type == '\0' || (type >= '0' && type <= '9') || (type >= 'A' && type <= 'Z') ||
         (type >= 'a' && type <= 'z');
}

bool is_of_gnu_extension(char type) {
  return type == 'L' || type == 'K' || type == 'S';
}

}  // namespace

bool is_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

bool has_checksum(Bytes block) {
  const std::string_view field = kChecksum.of(block);
  const bool is_octal = std::ranges::all_of(
      field, [](char c) { return kSpaces.contains(c) || (c >= '0' && c <= '7'); });
  const auto wanted = octal(field);
  if (!is_octal || !wanted) return false;
  std::int64_t unsigned_sum = 0;
  std::int64_t signed_sum = 0;
  for (const std::byte byte : block) {
    unsigned_sum += static_cast<std::uint8_t>(byte);
    signed_sum += static_cast<std::int8_t>(byte);
  }
  for (const char c : field) {
    unsigned_sum += ' ' - static_cast<unsigned char>(c);
    signed_sum += ' ' - c;
  }
  const auto sum = static_cast<std::int64_t>(*wanted);
  return sum == unsigned_sum || sum == signed_sum;
}

std::optional<Dialect> dialect_of(Bytes block) {
  const std::string_view magic = kMagic.of(block);
  if (magic == std::string_view("ustar  \0", 8)) return Dialect::gnu;
  if (magic == std::string_view("ustar\0"
                                "00",
                                8)) {
    return Dialect::ustar;
  }
  if (magic.starts_with("ustar")) return Dialect::unversioned;
  if (is_plausible_v7(block)) return Dialect::v7;
  return std::nullopt;
}

Result<Header> decode_header(Bytes block, Dialect dialect) {
  if (!octal(kMode.of(block))) return fail(Errc::bad_request, "a number that is none");
  for (const Field field : {kUid, kGid, kMtime, kDeviceMajor, kDeviceMinor}) {
    if (!is_number(field.of(block))) return fail(Errc::bad_request, "a number that is none");
  }
  Header header{.dialect = dialect, .type = kType.of(block).front()};
  // libarchive takes no file for a tar that begins with another type.
  if (!is_type(header.type)) return fail(Errc::bad_request, "a type that no format has");
  if (header.type == 'S') return fail(Errc::bad_request, "sparse members are not supported");
  if (kSize.of(block).front() == kNegative) return fail(Errc::bad_request, "a negative size");
  const auto size = number(kSize.of(block));
  if (!size) return fail(Errc::bad_request, "a size that is no number, or too large");
  header.size_bytes = *size;

  header.name = until_nul(kName.of(block));
  if (dialect == Dialect::gnu || dialect == Dialect::v7) {
    // GNU tar keeps times of incremental archives and maps of sparse files there; tarfile takes
    // them for a prefix, and libarchive takes a map for one whatever the type says.
    if (!is_zero(as_bytes(kBehindDevices.of(block)))) {
      return fail(Errc::bad_request, "bytes where other formats have a part of the name");
    }
    return header;
  }
  const std::string_view prefix = until_nul(kPrefix.of(block));
  // tarfile has no prefix of these, which only GNU tar writes.
  if (prefix.empty() || is_of_gnu_extension(header.type)) return header;
  // libarchive adds no second slash, tarfile does.
  if (prefix.ends_with('/')) return fail(Errc::bad_request, "a name prefix that ends in a slash");
  header.name = std::string(prefix) + "/" + header.name;
  return header;
}

namespace {

struct Record {
  std::string_view key;
  std::string_view value;
  std::size_t bytes;
};

// "27 path=some/where/x.jpg\n", the number being the length of all of it.
std::optional<Record> first_record(std::string_view records) {
  std::uint64_t length = 0;
  std::size_t at = 0;
  while (at < records.size() && records[at] >= '0' && records[at] <= '9') {
    length = length * 10 + static_cast<std::uint64_t>(records[at] - '0');
    if (length > kRecordMaxBytes || ++at > 20) return std::nullopt;
  }
  if (at == 0 || at >= records.size() || records[at] != ' ') return std::nullopt;
  if (length > records.size() || length < at + 4) return std::nullopt;
  std::string_view pair = records.substr(at + 1, length - at - 1);
  if (!pair.ends_with('\n')) return std::nullopt;
  pair.remove_suffix(1);
  const std::size_t equals = pair.find('=');
  if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
  return Record{.key = pair.substr(0, equals), .value = pair.substr(equals + 1), .bytes = length};
}

std::optional<std::uint64_t> decimal(std::string_view digits) {
  if (digits.empty() || digits.size() > 18) return std::nullopt;
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

// The only two that POSIX has; others make tarfile stumble.
bool is_charset(std::string_view value) {
  return value == "BINARY" || value == "ISO-IR 10646 2000 UTF-8";
}

bool is_sparse(std::string_view key) {
  return key.starts_with("GNU.sparse.") || key == "SCHILY.realsize" || key == "SUN.holesdata";
}

}  // namespace

Result<PaxRecords> decode_pax(std::string_view records) {
  PaxRecords result;
  while (!records.empty()) {
    const auto record = first_record(records);
    if (!record || record->key.contains('\0')) {
      return fail(Errc::bad_request, "a malformed PAX record");
    }
    records.remove_prefix(record->bytes);
    if (is_sparse(record->key)) {
      return fail(Errc::bad_request, "sparse members are not supported");
    }
    if (record->key == "hdrcharset" && !is_charset(record->value)) {
      return fail(Errc::bad_request, "an unknown hdrcharset");
    }
    if (record->key == "path") {
      if (result.path) return fail(Errc::bad_request, "two PAX paths");
      if (record->value.empty() || record->value.contains('\0')) {
        return fail(Errc::bad_request, "a PAX path that is no name");
      }
      result.path = record->value;
    }
    if (record->key == "size") {
      if (result.size_bytes) return fail(Errc::bad_request, "two PAX sizes");
      result.size_bytes = decimal(record->value);
      if (!result.size_bytes) {
        return fail(Errc::bad_request, "a PAX size that is no number, or too large");
      }
    }
  }
  return result;
}

}  // namespace leat::tar
