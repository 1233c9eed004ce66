// BucketRules: what buckets say about who may do what, from where, and for how long, read once.
//
// A bucket keeps its policy, its CORS rules and its lifecycle as properties, as text. They change
// seldom and are asked for by every request, so a shard keeps what it read until the text differs.
//
// Shard: one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/bucket_policy.h"
#include "cors/cors.h"
#include "lifecycle/lifecycle.h"
#include "record/types.h"

namespace leat::s3 {

// Names of properties of buckets; lifecycle::kProperty is another.
constexpr std::string_view kPolicyProperty = "s3.policy";
constexpr std::string_view kCorsProperty = "s3.cors";
constexpr std::string_view kAclProperty = "s3.acl";
constexpr std::string_view kTagsProperty = "s3.tags";  // as x-amz-tagging has those of objects

// Null without it.
const std::string* find_property(const record::Bucket& bucket, std::string_view name);

class BucketRules {
 public:
  using PolicyPtr = std::shared_ptr<const access::BucketPolicy>;
  using CorsPtr = std::shared_ptr<const std::vector<cors::Rule>>;
  using LifecyclePtr = std::shared_ptr<const std::vector<lifecycle::Rule>>;

  // Null: the bucket has none. One that cannot be read, since a later Leat wrote it, denies all.
  PolicyPtr policy(const record::Bucket& bucket);
  // Null: the bucket has none, or none that can be read.
  CorsPtr cors(const record::Bucket& bucket);
  LifecyclePtr lifecycle(const record::Bucket& bucket);

 private:
  // What was read for each bucket, with the text that it was read from.
  template <class T>
  struct Kept {
    std::string text;
    std::shared_ptr<const T> value;
  };
  template <class T>
  using Shelf = std::map<record::BucketId, Kept<T>>;
  static constexpr std::size_t kKeptMax = 1024;

  template <class T, class Read>
  static std::shared_ptr<const T> look_up(Shelf<T>& shelf, const record::Bucket& bucket,
                                          std::string_view property, Read read);

  Shelf<access::BucketPolicy> policies_;
  Shelf<std::vector<cors::Rule>> cors_;
  Shelf<std::vector<lifecycle::Rule>> lifecycles_;
};

}  // namespace leat::s3
