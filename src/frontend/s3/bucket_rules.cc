#include "s3/bucket_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace leat::s3 {
namespace {

access::BucketPolicy closed_policy(std::string_view bucket) {
  const std::string text =
      fmt::format(R"({{"Statement": {{"Effect": "Deny", "Principal": "*", "Action": "*",)"
                  R"( "Resource": ["arn:aws:s3:::{0}", "arn:aws:s3:::{0}/*"]}}}})",
                  bucket);
  auto policy = access::BucketPolicy::parse(text, bucket);
  LEAT_CHECK(policy.has_value());
  return *std::move(policy);
}

}  // namespace

const std::string* find_property(const record::Bucket& bucket, std::string_view name) {
  const auto found = std::ranges::find(bucket.properties, name, &record::Attribute::name);
  return found == bucket.properties.end() ? nullptr : &found->value;
}

template <class T, class Read>
std::shared_ptr<const T> BucketRules::look_up(Shelf<T>& shelf, const record::Bucket& bucket,
                                              std::string_view property, Read read) {
  const std::string* text = find_property(bucket, property);
  if (text == nullptr) return nullptr;
  const auto kept = shelf.find(bucket.id);
  if (kept != shelf.end() && kept->second.text == *text) return kept->second.value;
  std::shared_ptr<const T> value = read(*text);
  if (shelf.size() >= kKeptMax) shelf.clear();
  shelf[bucket.id] = Kept<T>{.text = *text, .value = value};
  return value;
}

BucketRules::PolicyPtr BucketRules::policy(const record::Bucket& bucket) {
  return look_up(policies_, bucket, kPolicyProperty, [&](const std::string& text) {
    auto policy = access::BucketPolicy::parse(text, bucket.name);
    return std::make_shared<const access::BucketPolicy>(policy ? *std::move(policy)
                                                               : closed_policy(bucket.name));
  });
}

BucketRules::CorsPtr BucketRules::cors(const record::Bucket& bucket) {
  return look_up(cors_, bucket, kCorsProperty, [](const std::string& text) -> CorsPtr {
    auto rules = cors::parse_cors(text);
    if (!rules) return nullptr;
    return std::make_shared<const std::vector<cors::Rule>>(*std::move(rules));
  });
}

BucketRules::LifecyclePtr BucketRules::lifecycle(const record::Bucket& bucket) {
  return look_up(lifecycles_, bucket, lifecycle::kProperty,
                 [](const std::string& text) -> LifecyclePtr {
                   auto rules = lifecycle::parse_lifecycle(text);
                   if (!rules) return nullptr;
                   return std::make_shared<const std::vector<lifecycle::Rule>>(*std::move(rules));
                 });
}

}  // namespace leat::s3
