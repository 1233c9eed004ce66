#include "transfer/filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "transfer/names.h"

namespace leat::transfer {
namespace {

std::size_t at(char c) {
  return static_cast<unsigned char>(c);
}

// Behind the character that starts at `from`.
std::size_t next_character(std::string_view name, std::size_t from) {
  std::size_t end = from + 1;
  while (end < name.size() && (at(name[end]) & 0xC0U) == 0x80U)
    ++end;
  return end;
}

bool take(std::string_view& rest, std::string_view beginning) {
  if (!rest.starts_with(beginning)) return false;
  rest.remove_prefix(beginning.size());
  return true;
}

}  // namespace

// What follows a '['.
Result<Pattern::Token> Pattern::take_class(std::string_view& rest) {
  Token token;
  const bool is_negated = take(rest, "!") || take(rest, "^");
  bool is_first = true;
  while (!rest.empty() && (is_first || rest.front() != ']')) {
    is_first = false;
    const std::size_t low = at(rest.front());
    std::size_t high = low;
    if (rest.size() > 2 && rest[1] == '-' && rest[2] != ']') {
      high = at(rest[2]);
      rest.remove_prefix(2);
    }
    rest.remove_prefix(1);
    for (std::size_t byte = low; byte <= high; ++byte)
      token.bytes.set(byte);
  }
  if (!take(rest, "]")) return fail(Errc::bad_request, "'[' without ']'; \\[ is a bracket");
  if (is_negated) token.bytes.flip();
  token.bytes.reset(at('/'));
  return token;
}

Result<Pattern> Pattern::parse(std::string_view text) {
  Pattern pattern;
  std::string_view rest = text;
  pattern.is_folder_ = rest.ends_with('/');
  if (pattern.is_folder_) rest.remove_suffix(1);
  pattern.is_anchored_ = rest.find('/') != rest.npos;
  take(rest, "/");
  if (rest.empty()) return fail(Errc::bad_request, "an empty pattern");
  using Kind = Token::Kind;
  while (!rest.empty()) {
    if (take(rest, "**/")) {
      pattern.tokens_.push_back({.kind = Kind::folders});
    } else if (take(rest, "**")) {
      pattern.tokens_.push_back({.kind = Kind::all});
    } else if (take(rest, "*")) {
      pattern.tokens_.push_back({.kind = Kind::some});
    } else if (take(rest, "?")) {
      pattern.tokens_.push_back({.kind = Kind::one});
    } else if (take(rest, "[")) {
      LEAT_TRY(Token token, take_class(rest));
      pattern.tokens_.push_back(token);
    } else {
      if (rest.size() > 1) take(rest, "\\");
      Token token;
      token.bytes.set(at(rest.front()));
      rest.remove_prefix(1);
      pattern.tokens_.push_back(token);
    }
  }
  return pattern;
}

// Which beginnings of the name the tokens so far match, token by token.
bool Pattern::matches_whole(std::string_view name) const {
  std::vector<bool> reached(name.size() + 1);
  reached[0] = true;
  for (const Token& token : tokens_) {
    std::vector<bool> next(name.size() + 1);
    bool goes_on = false;      // "*" or "**" began before here
    bool after_slash = false;  // "**/" did
    for (std::size_t i = 0; i <= name.size(); ++i) {
      const char before = i > 0 ? name[i - 1] : '/';
      const bool is_in_name = reached[i] && i < name.size();
      switch (token.kind) {
        case Token::Kind::byte:
          if (is_in_name && token.bytes.test(at(name[i]))) next[i + 1] = true;
          break;
        case Token::Kind::one:
          if (is_in_name && name[i] != '/') next[next_character(name, i)] = true;
          break;
        case Token::Kind::some:
          goes_on = reached[i] || (goes_on && before != '/');
          next[i] = goes_on;
          break;
        case Token::Kind::all:
          goes_on = goes_on || reached[i];
          next[i] = goes_on;
          break;
        case Token::Kind::folders:
          next[i] = reached[i] || (after_slash && before == '/');
          after_slash = after_slash || reached[i];
          break;
      }
    }
    reached = std::move(next);
  }
  return reached[name.size()];
}

bool Pattern::matches(std::string_view name) const {
  const auto matches_here = [this](std::string_view part) {
    return matches_whole(is_anchored_ ? part : last_name(part));
  };
  const bool names_folder = name.ends_with('/');
  if (!is_folder_) return matches_here(names_folder ? name.substr(0, name.size() - 1) : name);
  for (std::size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1)) {
    if (matches_here(name.substr(0, slash))) return true;
  }
  return false;
}

Result<NameFilter> NameFilter::make(const std::vector<std::string>& includes,
                                    const std::vector<std::string>& excludes) {
  NameFilter filter;
  const auto parse_all = [](const std::vector<std::string>& texts,
                            std::vector<Pattern>& patterns) -> Status {
    for (const std::string& text : texts) {
      auto pattern = Pattern::parse(text);
      if (!pattern) {
        return fail(Errc::bad_request,
                    fmt::format("pattern `{}`: {}", text, pattern.error().detail()));
      }
      patterns.push_back(*std::move(pattern));
    }
    return {};
  };
  LEAT_DO(parse_all(includes, filter.includes_));
  LEAT_DO(parse_all(excludes, filter.excludes_));
  return filter;
}

bool NameFilter::takes(std::string_view name) const {
  const auto matches = [name](const Pattern& pattern) { return pattern.matches(name); };
  if (!includes_.empty() && std::ranges::none_of(includes_, matches)) return false;
  return std::ranges::none_of(excludes_, matches);
}

}  // namespace leat::transfer
