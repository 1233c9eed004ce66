// NameFilter: which names below a folder or a prefix a transfer takes, by patterns. Pure.
//
//   *.jpg        names that end so, at any depth: a pattern without '/' is about the last name
//   2026/*.jpg   a pattern with '/' is about the whole name, from where the transfer starts
//   **/raw/*     "**" goes across folders, "*" and "?" do not
//   cache/       all that is in folders of this name
//   [a-f]*  \*   one of these characters; a star that is meant as one
//
// A name is taken if one of the includes matches, or there are none, and no exclude does.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace leat::transfer {

class Pattern {
 public:
  // Errors: bad_request, for one that is empty or has an open '['.
  static Result<Pattern> parse(std::string_view text);

  // `name` is relative, with '/' between folders; one that ends in '/' is a folder itself.
  bool matches(std::string_view name) const;

 private:
  struct Token {
    enum class Kind : std::uint8_t {
      byte,     // one of `bytes`
      one,      // any character but '/'
      some,     // "*"
      all,      // "**"
      folders,  // "**/": none or several folders
    };
    Kind kind = Kind::byte;
    std::bitset<256> bytes{};
  };

  bool matches_whole(std::string_view name) const;
  static Result<Token> take_class(std::string_view& rest);

  std::vector<Token> tokens_;
  bool is_folder_ = false;    // ended in '/'
  bool is_anchored_ = false;  // has a '/' elsewhere
};

class NameFilter {
 public:
  NameFilter() = default;  // takes all
  // Errors: as Pattern::parse().
  static Result<NameFilter> make(const std::vector<std::string>& includes,
                                 const std::vector<std::string>& excludes);

  bool takes(std::string_view name) const;
  bool takes_all() const { return includes_.empty() && excludes_.empty(); }

 private:
  std::vector<Pattern> includes_;
  std::vector<Pattern> excludes_;
};

}  // namespace leat::transfer
