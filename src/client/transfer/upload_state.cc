#include "transfer/upload_state.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "hash/digest.h"
#include "http1/grammar.h"

namespace leat::transfer {
namespace {

constexpr std::string_view kFirst = "leat-upload 1";

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string version_of(const UploadIdentity& identity) {
  std::string content = fmt::format("{}:{}", identity.content.type.size(), identity.content.type);
  for (const auto& [name, value] : identity.content.metadata)
    content += fmt::format("{}:{}{}:{}", name.size(), name, value.size(), value);
  const auto digest = hash::Sha256::of(as_bytes(content));
  return fmt::format("{} {} {}", identity.size_bytes, identity.changed.time_since_epoch().count(),
                     to_hex(Bytes(digest).first(16)));
}

}  // namespace

std::string state_path(const std::string& folder, const UploadIdentity& identity) {
  const std::string name =
      fmt::format("{}\n{}\n{}", identity.endpoint, identity.target.text(), identity.path);
  const auto digest = hash::Sha256::of(as_bytes(name));
  return fmt::format("{}/{}", folder, to_hex(Bytes(digest).first(16)));
}

std::string encode(const UploadIdentity& identity, const UploadState& state) {
  return fmt::format("{}\n{}\n{}\n{}\n", kFirst, version_of(identity), state.part_bytes, state.id);
}

std::optional<UploadState> decode(std::string_view text, const UploadIdentity& identity) {
  if (take_line(text) != kFirst || take_line(text) != version_of(identity)) return std::nullopt;
  const auto part_bytes = http1::parse_decimal(take_line(text));
  UploadState state{.id = std::string(take_line(text)), .part_bytes = part_bytes.value_or(0)};
  if (state.part_bytes == 0 || state.id.empty()) return std::nullopt;
  return state;
}

}  // namespace leat::transfer
