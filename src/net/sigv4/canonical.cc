#include "sigv4/canonical.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "http1/grammar.h"

namespace leat::sigv4 {
namespace {

using http1::percent_encode;
using http1::Slash;

void append_folded(std::string& out, std::string_view value) {
  bool blank = false;
  const std::string_view trimmed = http1::trim_ows(value);
  for (const char c : trimmed) {
    if (!http1::is_ows(c)) {
      out.push_back(c);
    } else if (!blank) {
      out.push_back(' ');
    }
    blank = http1::is_ows(c);
  }
}

}  // namespace

std::string canonical_path(std::string_view decoded_path) {
  return decoded_path.empty() ? "/" : percent_encode(decoded_path, Slash::keep);
}

std::string canonical_query(std::span<const http1::QueryPair> query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(query.size());
  for (const http1::QueryPair& pair : query) {
    if (pair.name == "X-Amz-Signature") continue;
    pairs.emplace_back(percent_encode(pair.name, Slash::encode),
                       percent_encode(pair.value, Slash::encode));
  }
  std::ranges::sort(pairs);
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (!out.empty()) out.push_back('&');
    out.append(name).append("=").append(value);
  }
  return out;
}

std::string canonical_value(const Request& request, std::string_view name) {
  std::string out;
  bool first = true;
  for (const http1::HeaderField& field : request.headers) {
    if (!http1::equals_ignore_case(field.name, name)) continue;
    if (!std::exchange(first, false)) out.push_back(',');
    append_folded(out, field.value);
  }
  return out;
}

std::string canonical_request(const Request& request, std::span<const std::string> signed_headers,
                              std::string_view payload_word) {
  std::string out(request.method);
  out.append("\n").append(canonical_path(request.path));
  out.append("\n").append(canonical_query(request.query)).append("\n");
  for (const std::string& name : signed_headers)
    out.append(name).append(":").append(canonical_value(request, name)).append("\n");
  out.append("\n").append(join_names(signed_headers));
  return out.append("\n").append(payload_word);
}

std::string join_names(std::span<const std::string> signed_headers) {
  std::string out;
  for (const std::string& name : signed_headers) {
    if (!out.empty()) out.push_back(';');
    out.append(name);
  }
  return out;
}

}  // namespace leat::sigv4
