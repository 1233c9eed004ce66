#include "s3/target.h"

#include <algorithm>
#include <array>

#include "http1/grammar.h"

namespace leat::s3 {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Four numbers with dots between them, whatever their size: no name looks like an address.
bool looks_like_address(std::string_view name) {
  return std::ranges::count(name, '.') == 3 &&
         std::ranges::all_of(name, [](char c) { return http1::is_digit(c) || c == '.'; });
}

}  // namespace

std::string bucket_in_host(std::string_view host, std::string_view domain) {
  if (domain.empty()) return "";
  if (const std::size_t colon = host.rfind(':'); colon != host.npos) host = host.substr(0, colon);
  if (host.size() <= domain.size() + 1) return "";
  const std::size_t dot = host.size() - domain.size() - 1;
  if (host[dot] != '.' || !http1::equals_ignore_case(host.substr(dot + 1), domain)) return "";
  std::string bucket(host.substr(0, dot));
  std::ranges::transform(bucket, bucket.begin(), http1::to_lower);
  return bucket;
}

bool is_s3(const http1::RequestHead& head, std::string_view domain) {
  if (!head.path.starts_with('/')) return false;  // OPTIONS *
  if (!bucket_in_host(head.host, domain).empty()) return true;
  return head.path != "/metrics" && head.path != "/_" && !head.path.starts_with("/_/");
}

Target target_of(std::string_view path, std::string_view host, std::string_view domain) {
  path.remove_prefix(1);
  if (std::string bucket = bucket_in_host(host, domain); !bucket.empty()) {
    return {.bucket = std::move(bucket), .key = std::string(path)};
  }
  const std::size_t slash = std::min(path.find('/'), path.size());
  return {.bucket = std::string(path.substr(0, slash)),
          .key = std::string(path.substr(std::min(slash + 1, path.size())))};
}

std::string_view broken_rule(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return "it has 3 to 63 characters";
  const bool is_spelled =
      std::ranges::all_of(name, [](char c) { return is_plain(c) || c == '-' || c == '.'; });
  if (!is_spelled) return "it has lower-case letters, digits, '-' and '.' only";
  if (!is_plain(name.front()) || !is_plain(name.back())) {
    return "it begins and ends with a letter or a digit";
  }
  const auto has = [name](std::string_view part) { return name.find(part) != name.npos; };
  if (has("..") || has(".-") || has("-.")) return "a '.' stands between letters or digits";
  if (looks_like_address(name)) return "it does not look like an IP address";
  if (name.starts_with("xn--")) return "it does not begin with xn--";
  if (name.ends_with("-s3alias") || name.ends_with("--ol-s3")) {
    return "it does not end with -s3alias or --ol-s3";
  }
  if (name == "metrics") return "metrics is a page of Leat's own";
  return "";
}

}  // namespace leat::s3
