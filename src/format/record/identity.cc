#include "record/identity.h"

#include <fmt/format.h>

#include <charconv>

#include "hash/crc32c.h"

namespace leat::record {
namespace {

template <class T>
bool parse(std::string_view text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool parse_id(std::string_view text, DiskId& id) {
  if (text.size() != id.size() * 2) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    unsigned value = 0;
    if (!parse(text.substr(2 * i, 2), value, 16)) return false;
    id[i] = static_cast<std::byte>(value);
  }
  return true;
}

// The value of the next line, which must begin with `name` and a space.
std::string_view take_line(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  std::string_view line = text.substr(0, end);
  if (!line.starts_with(name) || line.substr(name.size(), 1) != " ") return {};
  text.remove_prefix(end + 1);
  line.remove_prefix(name.size() + 1);
  return line;
}

}  // namespace

std::string to_hex(const DiskId& id) {
  std::string text;
  for (const std::byte b : id)
    text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

std::string encode(const Identity& identity) {
  std::string text = fmt::format("leat-disk {}\ndisk {}\nnode {}\ncreated {}\n", identity.format,
                                 to_hex(identity.disk), to_hex(identity.node), identity.created_ms);
  text += fmt::format("sum {:08x}\n", hash::crc32c(as_bytes(text)));
  return text;
}

Result<Identity> decode_identity(std::string_view text) {
  const auto damaged = [] { return fail(Errc::corrupt, "the identity of a disk is damaged"); };
  Identity identity;
  std::string_view rest = text;
  if (!parse(take_line(rest, "leat-disk"), identity.format)) return damaged();
  if (identity.format > kDiskFormat) {
    return fail(Errc::not_implemented,
                fmt::format("a disk of format {}, made by a later Leat; this one knows format {}",
                            identity.format, kDiskFormat));
  }
  const bool whole = parse_id(take_line(rest, "disk"), identity.disk) &&
                     parse_id(take_line(rest, "node"), identity.node) &&
                     parse(take_line(rest, "created"), identity.created_ms);
  const std::string_view summed = text.substr(0, text.size() - rest.size());
  std::uint32_t sum = 0;
  if (!whole || !parse(take_line(rest, "sum"), sum, 16) || !rest.empty()) return damaged();
  if (sum != hash::crc32c(as_bytes(summed))) return damaged();
  return identity;
}

}  // namespace leat::record
