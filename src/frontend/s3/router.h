// S3Router: which S3 operation a request asks for, by one table of method, place, sub-resource and
// copy source.
//
// Nothing falls through: a sub-resource, a query parameter or an x-amz-* header that the operation
// does not know is NotImplemented, never a plain GET or PUT of the object (field: other stores
// replaced objects by the XML of their tags).
#pragma once

#include <functional>
#include <string>

#include "http/dispatcher.h"

namespace leat::s3 {

class S3Router final : public http::Router {
 public:
  // What else an answer about a bucket needs, also one that refuses.
  using Finish = std::function<void(const http1::RequestHead&, std::string_view, http::Response&)>;

  // `domain`: of virtual-hosted buckets; empty for none.
  explicit S3Router(std::string domain, Finish finish = {})
      : domain_(std::move(domain)), finish_(std::move(finish)) {}

  Result<std::optional<http::Operation>> route(const http1::RequestHead& head) const override;
  std::string_view allowed(const http1::RequestHead&) const override { return "GET"; }
  http::Response refuse(const http::Refusal& refusal, const http1::RequestHead& head,
                        std::uint64_t request_id) const override;

 private:
  std::string domain_;
  Finish finish_;
};

}  // namespace leat::s3
