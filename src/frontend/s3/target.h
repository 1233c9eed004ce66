// Which bucket and key a request is about, by its path or by its host. Pure.
//
// The path is percent-decoded once; the bytes behind the bucket are the key, whatever they are: no
// slash is folded, no "..", no case.
#pragma once

#include <string>
#include <string_view>

#include "http1/request_head.h"

namespace leat::s3 {

struct Target {
  std::string bucket{};  // empty: the service
  std::string key{};     // empty: the bucket
  bool operator==(const Target&) const = default;
};

// The bucket that the host names: "photos" of "photos.s3.example:9000" if `domain` is "s3.example".
// Empty if it names none, or if there is no domain.
std::string bucket_in_host(std::string_view host, std::string_view domain);

// Not the native API, not the metrics. What a host with a bucket in it asks for always is.
bool is_s3(const http1::RequestHead& head, std::string_view domain);

// `path` is decoded and begins with '/'.
Target target_of(std::string_view path, std::string_view host, std::string_view domain);

// 3 to 63 of a–z, 0–9, '.' and '-', as AWS has them; none of Leat's own paths.
// Returns the rule that a name breaks; nothing for a good one.
std::string_view broken_rule(std::string_view name);
inline bool is_bucket_name(std::string_view name) {
  return broken_rule(name).empty();
}

}  // namespace leat::s3
