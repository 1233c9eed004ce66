#include "http1/conditional.h"

#include <algorithm>
#include <chrono>

#include "http1/date.h"
#include "http1/grammar.h"

namespace leat::http1 {
namespace {

struct Etag {
  std::string_view opaque;  // without quotes
  bool weak = false;
};

// Takes one tag off the front of a list. A quoted tag may hold commas; a bare one ends at the next.
Etag take_etag(std::string_view& list) {
  Etag tag;
  if (list.starts_with("W/\"")) {
    tag.weak = true;
    list.remove_prefix(2);
  }
  const bool quoted = list.starts_with('"');
  if (quoted) list.remove_prefix(1);
  const std::size_t end = std::min(list.find(quoted ? '"' : ','), list.size());
  tag.opaque = quoted ? list.substr(0, end) : trim_ows(list.substr(0, end));
  list.remove_prefix(end);
  if (quoted && !list.empty()) list.remove_prefix(1);
  return tag;
}

enum class Comparison : std::uint8_t { strong, weak };

bool matches(const Etag& a, const Etag& b, Comparison comparison) {
  if (comparison == Comparison::strong && (a.weak || b.weak)) return false;
  return a.opaque == b.opaque;
}

// True if `list` is "*" and there is something, or it names the tag of what there is.
bool list_matches(std::string_view list, const Selected& selected, Comparison comparison) {
  if (!selected.exists) return false;
  list = trim_ows(list);
  if (list == "*") return true;
  std::string_view own = selected.etag;
  const Etag current = take_etag(own);
  while (!list.empty()) {
    if (is_ows(list.front()) || list.front() == ',') {
      list.remove_prefix(1);
    } else if (matches(take_etag(list), current, comparison)) {
      return true;
    }
  }
  return false;
}

std::optional<bool> modified_after(std::string_view date, const Selected& selected) {
  const auto since = parse_date(date);
  if (!since || !selected.exists) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(selected.last_modified) > *since;
}

}  // namespace

Result<Conditions> conditions_of(const HeaderBlock& headers) {
  for (const Header header : {Header::if_match, Header::if_none_match, Header::if_modified_since,
                              Header::if_unmodified_since}) {
    if (headers.count(header) > 1) return fail(Errc::bad_request, "a condition stands twice");
  }
  return Conditions{
      .if_match = headers.find(Header::if_match),
      .if_none_match = headers.find(Header::if_none_match),
      .if_modified_since = headers.find(Header::if_modified_since),
      .if_unmodified_since = headers.find(Header::if_unmodified_since),
  };
}

Verdict evaluate(const Conditions& conditions, const Selected& selected, Method method) {
  const bool reads = method == Method::get || method == Method::head;
  if (conditions.if_match) {
    if (!list_matches(*conditions.if_match, selected, Comparison::strong)) {
      return Verdict::precondition_failed;
    }
  } else if (conditions.if_unmodified_since) {
    if (modified_after(*conditions.if_unmodified_since, selected).value_or(false)) {
      return Verdict::precondition_failed;
    }
  }
  if (conditions.if_none_match) {
    if (list_matches(*conditions.if_none_match, selected, Comparison::weak)) {
      return reads ? Verdict::not_modified : Verdict::precondition_failed;
    }
  } else if (conditions.if_modified_since && reads) {
    if (!modified_after(*conditions.if_modified_since, selected).value_or(true)) {
      return Verdict::not_modified;
    }
  }
  return Verdict::proceed;
}

}  // namespace leat::http1
