#include "record/lines.h"

#include <fmt/format.h>

#include "hash/crc32c.h"

namespace leat::record {

bool parse_id(std::string_view text, DiskId& id) {
  if (text.size() != id.size() * 2) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    unsigned value = 0;
    if (!parse_number(text.substr(2 * i, 2), value, 16)) return false;
    id[i] = static_cast<std::byte>(value);
  }
  return true;
}

std::string_view take_line(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  std::string_view line = text.substr(0, end);
  if (!line.starts_with(name) || line.substr(name.size(), 1) != " ") return {};
  text.remove_prefix(end + 1);
  line.remove_prefix(name.size() + 1);
  return line;
}

std::string with_sum(std::string text) {
  text += fmt::format("sum {:08x}\n", hash::crc32c(as_bytes(text)));
  return text;
}

bool ends_in_sum(std::string_view text, std::string_view rest) {
  const std::string_view summed = text.substr(0, text.size() - rest.size());
  std::uint32_t sum = 0;
  return parse_number(take_line(rest, "sum"), sum, 16) && rest.empty() &&
         sum == hash::crc32c(as_bytes(summed));
}

}  // namespace leat::record
