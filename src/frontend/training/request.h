// Request: one request about a dataset, taken apart, with what the caller may.
//
// Shard: one. Lifetime: parts and exchange outlive it. Included by source files only.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http1/uri.h"
#include "training/calls.h"

namespace leat::training {

class Request {
 public:
  Request(const Parts& with, http::Exchange& one)
      : parts(with), exchange(one), call(call_of(with, one)) {}

  // The dataset of the path, what stands behind its version, and the query.
  Status parse();
  Status parse_query();

  std::optional<std::string> query(std::string_view name) const;
  // Errors: bad_request, for a parameter that the operation does not know.
  Status allow(std::initializer_list<std::string_view> names) const;
  Result<std::uint64_t> number(std::string_view name, std::uint64_t otherwise,
                               std::uint64_t max) const;

  // Who may read what stands below the dataset's name may read the dataset, and so on.
  Status may(access::Action action, const datasets::DatasetName& name) const;
  // A snapshot tells what is in its shards, so that who adds one must be able to read it.
  Status may_show(const datasets::DatasetName& name, const std::vector<std::string>& keys) const;
  // Errors: bad_request, when the path names a version.
  Status check_no_version(std::string_view what) const;

  // The body as JSON; an empty one is {}.
  rt::Task<nlohmann::json> read_json();

  const Parts& parts;
  http::Exchange& exchange;
  const std::shared_ptr<s3::Call> call;
  datasets::Reference reference{};
  std::string inside{};  // of B/N@REF/INSIDE

 private:
  std::vector<http1::QueryPair> query_;
};

http::Response json_answer(int status, const nlohmann::json& value);
// A version, for people and programs.
nlohmann::json json_of(const datasets::CommitRecord& record);
nlohmann::json json_of(const datasets::Opened& opened);

// Takes words out of a JSON object. Errors: bad_request, when one is of another kind; what is not
// there leaves the target as it is.
Status take(const nlohmann::json& from, const char* name, std::string& to);
Status take(const nlohmann::json& from, const char* name, bool& to);
Status take(const nlohmann::json& from, const char* name, std::uint64_t& to);
Status take(const nlohmann::json& from, const char* name, std::optional<std::uint64_t>& to);
Status take(const nlohmann::json& from, const char* name, std::vector<std::string>& to);
// Errors: bad_request, for what is no object or has other words.
Status check_words(const nlohmann::json& document, std::initializer_list<std::string_view> known);

}  // namespace leat::training
