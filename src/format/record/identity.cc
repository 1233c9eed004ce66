#include "record/identity.h"

#include <fmt/format.h>

#include "record/lines.h"

namespace leat::record {

std::string to_hex(const DiskId& id) {
  std::string text;
  for (const std::byte b : id)
    text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

std::string encode(const Identity& identity) {
  std::string text = fmt::format("leat-disk {}\ndisk {}\nnode {}\ncreated {}\n", identity.format,
                                 to_hex(identity.disk), to_hex(identity.node), identity.created_ms);
  return with_sum(std::move(text));
}

Result<Identity> decode_identity(std::string_view text) {
  const auto damaged = [] { return fail(Errc::corrupt, "the identity of a disk is damaged"); };
  Identity identity;
  std::string_view rest = text;
  if (!parse_number(take_line(rest, "leat-disk"), identity.format)) return damaged();
  if (identity.format > kDiskFormat) {
    // Every format ends in the checksum: a flipped bit is no later Leat.
    const std::size_t last = text.rfind("\nsum ");
    if (last == text.npos || !ends_in_sum(text, text.substr(last + 1))) return damaged();
    return fail(Errc::not_implemented,
                fmt::format("a disk of format {}, made by a later Leat; this one knows format {}",
                            identity.format, kDiskFormat));
  }
  const bool whole = parse_id(take_line(rest, "disk"), identity.disk) &&
                     parse_id(take_line(rest, "node"), identity.node) &&
                     parse_number(take_line(rest, "created"), identity.created_ms);
  if (!whole || !ends_in_sum(text, rest)) return damaged();
  return identity;
}

}  // namespace leat::record
