#include "leat/token.h"

#include <fmt/format.h>

#include <algorithm>

#include "leat/settings.h"

namespace leat::programs {
namespace {

constexpr std::size_t kLengthMin = 16;

}  // namespace

std::string fresh_token(io::Rng& rng) {
  const std::uint64_t first = rng.next();
  return fmt::format("{:016x}{:016x}", first, rng.next());
}

Result<log::Secret> read_token(const std::string& path) {
  const auto text_or = read_text(path);
  if (!text_or) {
    return fail(text_or.error().code(),
                fmt::format("--token-file: {}; a node keeps its token in DIR/admin-token",
                            text_or.error().detail()));
  }
  const std::string& text = *text_or;
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  const std::string token = text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
  const bool is_plain = std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
  if (token.size() < kLengthMin || !is_plain) {
    return fail(Errc::bad_request,
                fmt::format("{}: a token is one word of {} characters or more", path, kLengthMin));
  }
  return log::Secret(token);
}

Result<std::optional<log::Secret>> token_from_file(const config::Config& settings) {
  const std::string& path = settings.text("token_file");
  if (path.empty()) return std::nullopt;
  LEAT_TRY(log::Secret token, read_token(path));
  return token;
}

}  // namespace leat::programs
